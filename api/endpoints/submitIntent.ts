import { crashPoint } from '../../crashPoints.js'
import { storeIntent } from '../../planning/intents.js'
import { planOnceBooked } from '../../planning/booking.js'
import { startIntent, type IntentStart } from '../../temporal/start.js'
import { intentBody } from './intentBody.js'
import type { Intent, Owner } from '../../db/intents/intents.js'
import type { PlanInput } from '../../planning/market.js'
import type { Wallet } from '../../db/tenants/wallets.js'
import type { IntentRequest } from '../../domain/intent.js'
import type { Tier } from '../../domain/tiers.js'
import type { Answer, Commit } from '../http/commit.js'
import type { Services } from '../http/services.js'

/** What a new intent is to reach, with which wallet, and what is known of it besides. */
export type Submission = {
  wallet: Wallet
  request: IntentRequest
  owner: Owner
  /** Of the account: whoever pays more is served first. */
  tier: Tier
}

/**
 * Plans and stores an intent in one transaction with its charge, and starts what is stored. Where only the booking
 * lags behind the money, it waits a moment, and leaves the plan to the workflow.
 */
export async function submitIntent(
  services: Services,
  { wallet, request, owner, tier }: Submission,
  commit: Commit,
): Promise<Answer> {
  const { accountId, walletId } = owner
  const { address } = wallet
  let intent: Intent | undefined
  const attempt = (input: PlanInput) =>
    commit(async (trx) => {
      intent = await storeIntent({ ...services, db: trx }, owner, input)
      return { status: 201, body: intentBody(services.registry, intent) }
    })
  const spender = { accountId, walletId, address }
  const answer = await planOnceBooked(services, spender, { request, attempt })
  crashPoint('api: before the start')
  if (intent) await start(services, { intent, tier, userId: wallet.userId })
  return answer
}

/** The row is durable: a start that fails or is late is the sweeper's. */
async function start({ temporal, db, log }: Services, order: IntentStart): Promise<void> {
  const { id, requestId } = order.intent
  await startIntent({ temporal, db }, order).catch((error: unknown) => {
    log.warn({ err: error, intent: id, requestId }, 'workflow not started yet')
  })
}
