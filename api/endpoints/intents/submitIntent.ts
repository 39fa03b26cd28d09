import { countOpenIntents } from '../../../db/intents/intents.js'
import { readDeposits } from '../../../db/intents/positions.js'
import { getUsableWallet } from '../../../db/pauses.js'
import { previewPlan, storeIntent } from '../../../planning/intents.js'
import { planOnceIndexed } from '../../../planning/waitForIndex.js'
import { ServiceError } from '../../../domain/errors.js'
import { chainRequired, toRequest, type IntentRequestBody } from '../../schemas/intentRequest.js'
import { intentBody, previewBody } from './intentBody.js'
import { emptyTimeline } from '../../../db/intents/timeline.js'
import type { Db } from '../../../db/client/connect.js'
import type { Owner } from '../../../db/intents/intents.js'
import type { PlanInput } from '../../../planning/plan.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'
import type { IntentRequest } from '../../../domain/intent/intent.js'
import type { Answer, Commit } from '../../http/commit.js'
import type { Services } from '../../http/services.js'

/** A new intent: its request, its wallet and its owner. */
export type IntentSubmission = {
  wallet: StoredWallet
  request: IntentRequest
  owner: Owner
}

/** A call of `POST /intents`. */
type IntentCall = {
  caller: { accountId: string }
  requestId: string
  body: IntentRequestBody
}

/**
 * Converts a call to a submission.
 *
 * @throws {ServiceError} INVALID_REQUEST, WALLET_NOT_FOUND, FORBIDDEN when the wallet is frozen.
 */
export async function toSubmission(
  { db, registry }: Services,
  { caller: { accountId }, requestId, body }: IntentCall,
): Promise<IntentSubmission> {
  if (body.action === 'withdraw' && body.chain === undefined) {
    throw chainRequired(await listLentChains({ db, registry }, accountId, body.walletId))
  }
  const request = toRequest(body)
  const wallet = await getUsableWallet(db, accountId, body.walletId)
  const metadata = body.metadata ? { metadata: body.metadata } : {}
  const owner = { accountId, walletId: wallet.id, requestId, ...metadata }
  return { wallet, request, owner }
}

/** Names of the chains on which intents of a wallet have deposited more than they have withdrawn. */
async function listLentChains(
  { db, registry }: Pick<Services, 'db' | 'registry'>,
  accountId: string,
  walletId: string,
): Promise<string[]> {
  const deposits = await readDeposits(db, accountId, walletId)
  const lent = deposits.filter(({ flows }) => {
    const signed = flows.map(({ kind, units }) => (kind === 'deposit' ? units : -units))
    return signed.reduce((sum, units) => sum + units, 0n) > 0n
  })
  return lent.map(({ chainId }) => registry.byId(Number(chainId)).name)
}

/** Maximum number of open intents per account. It bounds the work for one account. */
const MOST_OPEN_INTENTS = 10_000
const OPEN_RETRY_S = 60

/** @throws {ServiceError} RATE_LIMITED when the account has as many open intents as it may. */
async function assertFewOpen(db: Db, accountId: string): Promise<void> {
  if ((await countOpenIntents(db, accountId, MOST_OPEN_INTENTS)) < MOST_OPEN_INTENTS) return
  const [limit, retryAfter] = [MOST_OPEN_INTENTS, OPEN_RETRY_S]
  const message = `This account has ${limit} open intents. Try again in ${retryAfter} s.`
  throw new ServiceError('RATE_LIMITED', message, { limit, window: 'open intents', retryAfter })
}

/** Plans an intent. Nothing is stored, started or charged. */
export async function previewIntent(
  services: Services,
  { wallet, request, owner }: IntentSubmission,
): Promise<ReturnType<typeof previewBody>> {
  const { accountId, walletId } = owner
  const spender = { accountId, walletId, address: wallet.address }
  const attempt = (input: PlanInput) => previewPlan(services, owner, input)
  const plan = await planOnceIndexed(services, spender, {
    request,
    attempt,
    waitMs: services.indexingWaitMs,
  })
  return previewBody(wallet.id, request, plan)
}

/**
 * Plans and stores an intent in one transaction with its charge. A worker starts stored intents, so the response does
 * not wait for the start. When the index lags behind the wallet's balance, the call waits up to `indexingWaitMs`. After
 * that the workflow plans the intent.
 */
export async function submitIntent(
  services: Services,
  { wallet, request, owner }: IntentSubmission,
  commit: Commit,
): Promise<Answer> {
  const { accountId, walletId } = owner
  await assertFewOpen(services.db, accountId)
  const spender = { accountId, walletId, address: wallet.address }
  const timeline = { ...emptyTimeline, userId: wallet.userId }
  const attempt = (input: PlanInput) =>
    commit(async (trx) => {
      const intent = await storeIntent({ ...services, db: trx }, owner, input)
      // An intent without a plan counts when it is planned.
      const gasUsd = intent.plan?.estimatedGasUsd ?? 0
      return {
        status: 201,
        body: intentBody(services.registry, intent, { timeline, scopes: ['write'] }),
        gasUsd,
      }
    })
  return planOnceIndexed(services, spender, { request, attempt, waitMs: services.indexingWaitMs })
}
