import {
  claimKey,
  findAnswer,
  fingerprintOf,
  storeAnswer,
  type IdempotencyKey,
} from '../../db/accounts/idempotency.js'
import { charge } from '../../db/usage/metering.js'
import { transactScoped } from '../../db/client/scope.js'
import { faultPoint } from '../../runtime/faultPoints.js'
import { ServiceError, errorCatalog, invalidRequest } from '../../domain/errors.js'
import { outOfCredits, outOfGas } from './credits.js'
import { beginCommit } from './deadline.js'
import type { Request, Response } from 'express'
import type { Db } from '../../db/client/connect.js'
import type { GasBudgets } from '../../domain/tiers.js'

/** A response as it is sent and stored for replays. `charged`: credits. */
export type SentAnswer = { status: number; text: string; charged: number; replayed: boolean }
/**
 * `headers`: of a GET only; a replay has no headers of its own. `kept`: the body to store for replays when the
 * first response holds a secret that is shown only once. `gasUsd`: estimated gas of a new intent, USD.
 */
export type Answer = {
  status: 200 | 201
  body: unknown
  kept?: unknown
  gasUsd?: number
  headers?: Record<string, string>
}

/** Runs work in one transaction with the call's charge and the response stored for replays. */
export type Commit = (work: (trx: Db) => Promise<Answer>) => Promise<Answer>

/** A POST in progress. */
export type Posting = {
  db: Db
  accountId: string
  requestId: string
  response: Response
  route: string
  credits: number
  gasBudgets: GasBudgets | undefined
  idempotency: IdempotencyKey | undefined
}

const printable = /^[\x20-\x7e]{1,255}$/

/** The request that an Idempotency-Key identifies, besides the path. */
type Named = Pick<IdempotencyKey, 'accountId' | 'expires'> & { query: unknown; body: unknown }

/** The idempotency key of a call. Keys are scoped to their operation: the route and its path parameters. */
export type CallName = Pick<IdempotencyKey, 'endpoint' | 'key'>

/**
 * The request's Idempotency-Key, undefined when it has none.
 *
 * @param path - Pattern of the route. The URL of one operation has many spellings.
 */
export function readName(request: Request, path: string): CallName | undefined {
  const key = request.get('idempotency-key')
  if (key === undefined) return undefined
  const idOf = (_match: string, name: string) => encodeURIComponent(String(request.params[name]))
  return { endpoint: path.replace(/:(\w+)/g, idOf), key }
}

/** @throws {ServiceError} INVALID_REQUEST unless the key is 1 to 255 printable ASCII characters. */
export function toIdempotencyKey(
  name: CallName,
  { accountId, expires, query, body }: Named,
): IdempotencyKey {
  if (!printable.test(name.key)) {
    const message = 'Idempotency-Key must be 1 to 255 printable ASCII characters.'
    throw invalidRequest('Idempotency-Key', message)
  }
  return { ...name, accountId, fingerprint: fingerprintOf({ body, query }), expires }
}

/** A concurrent request with the same key has committed first. */
class ClaimedMeanwhile extends Error {}

/**
 * Runs a POST in one transaction with its charge and the response stored for replays: all or nothing. A concurrent
 * duplicate waits until the first request finishes and replays its response.
 *
 * @param handle - The endpoint. It calls `commit` once, with the work of the transaction.
 */
export async function answerOnce(
  posting: Posting,
  handle: (commit: Commit) => Promise<Answer>,
): Promise<SentAnswer> {
  const known = await findReplay(posting)
  if (known) return known
  let charged = 0
  try {
    const answer = await handle(async (work) => {
      const committed = await commit(posting, work)
      charged = posting.credits
      return committed
    })
    faultPoint('api: before the answer')
    return { ...toText(answer), charged, replayed: false }
  } catch (error) {
    // A duplicate that has committed meanwhile may be the cause of this refusal, for example by its reservation.
    const replay = isRefusal(error) ? await findReplay(posting) : undefined
    if (replay) return replay
    throw error
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof ClaimedMeanwhile) return true
  return error instanceof ServiceError && errorCatalog[error.code].status < 500
}

async function commit(posting: Posting, work: (trx: Db) => Promise<Answer>): Promise<Answer> {
  const { db, accountId, requestId, response, route, credits, idempotency, gasBudgets } = posting
  return transactScoped(db, accountId, async (trx) => {
    if (idempotency && !(await claimKey(trx, idempotency))) throw new ClaimedMeanwhile()
    const answer = await work(trx)
    if (idempotency) {
      const { status, text } = toText({ ...answer, body: answer.kept ?? answer.body })
      await storeAnswer(trx, idempotency, { status, body: text })
    }
    // Last: it locks the account's row, and other calls of the account wait for that lock.
    const { gasUsd } = answer
    const gas = gasUsd === undefined ? undefined : { usd: gasUsd, budgets: gasBudgets }
    const payment = await charge(trx, { accountId, requestId, cost: credits, route, gas })
    if (!payment.paid) throw outOfCredits(credits, payment.balance)
    if (payment.gas) throw outOfGas(payment.gas, gasUsd)
    faultPoint('api: before the commit')
    beginCommit(response)
    return answer
  })
}

async function findReplay({ db, idempotency }: Posting): Promise<SentAnswer | undefined> {
  if (!idempotency) return undefined
  const known = await findAnswer(db, idempotency)
  if (!known) return undefined
  if (!known.fingerprint.equals(idempotency.fingerprint)) {
    const message = 'This Idempotency-Key was used for another request. Use a new one.'
    throw invalidRequest('Idempotency-Key', message, 'idempotency_key_reused')
  }
  return { status: known.status, text: known.body, charged: 0, replayed: true }
}

const toText = ({ status, body }: Answer) => ({ status, text: JSON.stringify(body) })
