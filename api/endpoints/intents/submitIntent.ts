import { countOpenIntents } from '../../../db/intents/intents.js'
import { getUsableWallet } from '../../../db/lanes/stops.js'
import { previewPlan, storeIntent } from '../../../planning/intents.js'
import { planOnceBooked } from '../../../planning/booking.js'
import { ServiceError } from '../../../domain/errors.js'
import { toRequest, type IntentRequestBody } from '../../schemas/intentRequest.js'
import { intentBody, previewBody } from './intentBody.js'
import type { Db } from '../../../db/connection/connect.js'
import type { Owner } from '../../../db/intents/intents.js'
import type { PlanInput } from '../../../planning/plan.js'
import type { Wallet } from '../../../db/tenants/wallets.js'
import type { IntentRequest } from '../../../domain/intent.js'
import type { Answer, Commit } from '../../http/commit.js'
import type { Services } from '../../http/services.js'

/** What a new intent is to reach, with which wallet, and what is known of it besides. */
export type Submission = {
  wallet: Wallet
  request: IntentRequest
  owner: Owner
}

/** A call that asks for an intent. */
type Asking = {
  caller: { accountId: string }
  requestId: string
  body: IntentRequestBody
}

/**
 * What a request body asks for.
 *
 * @throws {ServiceError} INVALID_REQUEST, WALLET_NOT_FOUND, FORBIDDEN when the wallet is frozen.
 */
export async function toSubmission(
  { db, registry }: Services,
  { caller: { accountId }, requestId, body }: Asking,
): Promise<Submission> {
  const request = toRequest(registry, body)
  const wallet = await getUsableWallet(db, accountId, body.walletId)
  const said = body.metadata ? { metadata: body.metadata } : {}
  const owner = { accountId, walletId: wallet.id, requestId, ...said }
  return { wallet, request, owner }
}

/** Intents of an account that have not ended. What is planned, started and executed for one account stays bounded. */
const MOST_OPEN_INTENTS = 10_000
const OPEN_RETRY_S = 60

/** @throws {ServiceError} RATE_LIMITED when the account has as many open intents as it may. */
async function assertFewOpen(db: Db, accountId: string): Promise<void> {
  if ((await countOpenIntents(db, accountId, MOST_OPEN_INTENTS)) < MOST_OPEN_INTENTS) return
  const [limit, retryAfter] = [MOST_OPEN_INTENTS, OPEN_RETRY_S]
  const message = `This account has ${limit} open intents. Wait until some have ended, and try again in ${retryAfter} s.`
  throw new ServiceError('RATE_LIMITED', message, { limit, window: 'open intents', retryAfter })
}

/** What an intent would do now: nothing is stored, started or charged. */
export async function previewIntent(
  services: Services,
  { wallet, request, owner }: Submission,
): Promise<ReturnType<typeof previewBody>> {
  const { accountId, walletId } = owner
  const spender = { accountId, walletId, address: wallet.address }
  const attempt = (input: PlanInput) => previewPlan(services, owner, input)
  const plan = await planOnceBooked(services, spender, {
    request,
    attempt,
    waitMs: services.bookingWaitMs,
  })
  return previewBody(wallet.id, request, plan)
}

/**
 * Plans and stores an intent in one transaction with its charge. A worker starts what is stored: the answer does not
 * wait for that, since the row is durable. Where only the booking lags behind the money, it waits a moment, and leaves
 * the plan to the workflow.
 */
export async function submitIntent(
  services: Services,
  { wallet, request, owner }: Submission,
  commit: Commit,
): Promise<Answer> {
  const { accountId, walletId } = owner
  await assertFewOpen(services.db, accountId)
  const spender = { accountId, walletId, address: wallet.address }
  const attempt = (input: PlanInput) =>
    commit(async (trx) => {
      const intent = await storeIntent({ ...services, db: trx }, owner, input)
      return { status: 201, body: intentBody(services.registry, intent) }
    })
  return planOnceBooked(services, spender, { request, attempt, waitMs: services.bookingWaitMs })
}
