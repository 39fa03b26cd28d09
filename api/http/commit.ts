import {
  claimKey,
  findAnswer,
  fingerprintOf,
  storeAnswer,
  type IdempotencyKey,
} from '../../db/tenants/idempotency.js'
import { charge } from '../../db/tenants/metering.js'
import { transactScoped } from '../../db/connection/scope.js'
import { crashPoint } from '../../crashPoints.js'
import { ServiceError, errorCatalog, invalidRequest } from '../../domain/errors.js'
import { outOfCredits } from './credits.js'
import type { Request } from 'express'
import type { Db } from '../../db/connection/connect.js'

/** An answer as it is sent and kept. */
export type Sent = { status: number; text: string; charged: number; replayed: boolean }
/**
 * `headers`: of an answer that reads; a replay has only status and body. `kept`: the body of replays, where the
 * answer tells what nobody can be told again.
 */
export type Answer = {
  status: 200 | 201
  body: unknown
  kept?: unknown
  headers?: Record<string, string>
}

/** Does work in one transaction together with the call's charge and the answer kept for replays. */
export type Commit = (work: (trx: Db) => Promise<Answer>) => Promise<Answer>

/** A POST that is being answered. */
export type Posting = {
  db: Db
  accountId: string
  requestId: string
  route: string
  credits: number
  idempotency: IdempotencyKey | undefined
}

const printable = /^[\x20-\x7e]{1,255}$/

/** What an Idempotency-Key stands for, besides the path. */
type Named = Pick<IdempotencyKey, 'accountId' | 'expires'> & { query: unknown; body: unknown }

/** What names a call for ever: names of one endpoint mean nothing at another. */
export type CallName = Pick<IdempotencyKey, 'endpoint' | 'key'>

/** The name that the caller has given to a request; undefined when he has given none. */
export function readName(request: Request): CallName | undefined {
  const key = request.get('idempotency-key')
  const endpoint = request.originalUrl.split('?')[0] ?? request.path
  return key === undefined ? undefined : { endpoint, key }
}

/** @throws {ServiceError} INVALID_REQUEST when the name is no printable ASCII of 1 to 255 characters. */
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

/** A twin has committed while this request was on its way. */
class TakenMeanwhile extends Error {}

/**
 * Does a POST's work in one transaction with its charge and the answer that is kept for replays. All of it
 * happens, or nothing. A concurrent twin waits for the first one's end and replays its answer.
 *
 * @param handle - The endpoint: it calls `commit` once, with what shall happen in the transaction.
 */
export async function answerOnce(
  posting: Posting,
  handle: (commit: Commit) => Promise<Answer>,
): Promise<Sent> {
  const known = await findReplay(posting)
  if (known) return known
  let charged = 0
  try {
    const answer = await handle(async (work) => {
      const committed = await commit(posting, work)
      charged = posting.credits
      return committed
    })
    crashPoint('api: before the answer')
    return { ...toText(answer), charged, replayed: false }
  } catch (error) {
    // The twin's own reservation or wallet may be the very reason of this refusal.
    const replay = isRefusal(error) ? await findReplay(posting) : undefined
    if (replay) return replay
    throw error
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof TakenMeanwhile) return true
  return error instanceof ServiceError && errorCatalog[error.code].status < 500
}

async function commit(posting: Posting, work: (trx: Db) => Promise<Answer>): Promise<Answer> {
  const { db, accountId, requestId, route, credits, idempotency } = posting
  return transactScoped(db, accountId, async (trx) => {
    if (idempotency && !(await claimKey(trx, idempotency))) throw new TakenMeanwhile()
    const answer = await work(trx)
    if (idempotency) {
      const { status, text } = toText({ ...answer, body: answer.kept ?? answer.body })
      await storeAnswer(trx, idempotency, { status, body: text })
    }
    // Last: it locks the account's row, which the account's other calls wait for.
    const { paid, balance } = await charge(trx, { accountId, requestId, cost: credits, route })
    if (!paid) throw outOfCredits(credits, balance)
    crashPoint('api: before the commit')
    return answer
  })
}

async function findReplay({ db, idempotency }: Posting): Promise<Sent | undefined> {
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
