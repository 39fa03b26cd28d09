import { insertIntent, lockIntent, requestOf, setPlan, type Intent } from '../db/intents.js'
import { insertReservation, lockWallet } from '../db/reservations.js'
import { scopeTransaction } from '../db/scope.js'
import { getWalletById } from '../db/wallets.js'
import { ServiceError } from '../domain/errors.js'
import { isTerminal } from '../domain/intent.js'
import { toUnits } from '../domain/money.js'
import { planWithReservations, readMarket, type Market } from './market.js'
import type { Chains } from '../chains/connect.js'
import type { Registry } from '../chains/registry.js'
import type { Db } from '../db/connect.js'
import type { ExecutionPlan, IntentRequest } from '../domain/intent.js'

export type PlanningTools = { db: Db; chains: Chains; registry: Registry }

export type Owner = { accountId: string; walletId: string; requestId: string }

/**
 * Plans a request and stores the intent with its reservations in the caller's transaction. When the chains
 * did not answer, the intent is stored `pending` and its workflow plans later.
 *
 * @param market - Read before the transaction began: it holds no answer of a chain up.
 * @throws {ServiceError} INSUFFICIENT_FUNDS or INVALID_REQUEST; nothing is stored then.
 */
export async function storeIntent(
  tools: Pick<PlanningTools, 'registry'>,
  trx: Db,
  owner: Owner,
  request: IntentRequest,
  market: Market,
): Promise<Intent> {
  await lockWallet(trx, owner.walletId)
  const plan = await planWithReservations(trx, owner.walletId, request, market).catch(laterIfSilent)
  const intent = await insertIntent(trx, owner, request, plan)
  if (plan) await reserve(tools, trx, intent, plan)
  return intent
}

/**
 * The plan that `storeIntent` would store now. Nothing is written or locked.
 *
 * @throws {ServiceError} INSUFFICIENT_FUNDS or INVALID_REQUEST as `storeIntent`; UNAVAILABLE when a chain
 *   that is silent might hold the answer.
 */
export async function previewPlan(
  db: Db,
  { accountId, walletId }: Owner,
  request: IntentRequest,
  market: Market,
): Promise<ExecutionPlan> {
  try {
    return await db.transaction(async (trx) => {
      await scopeTransaction(trx, accountId)
      return planWithReservations(trx, walletId, request, market)
    })
  } catch (error) {
    if (!isSilence(error)) throw error
    throw new ServiceError('UNAVAILABLE', `${error.message} Try again.`, {}, { cause: error })
  }
}

const isSilence = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'RPC_ERROR'

function laterIfSilent(error: unknown): undefined {
  if (isSilence(error)) return undefined
  throw error
}

/**
 * Plans an intent that was stored without a plan. Safe to repeat: a plan that is there is returned.
 *
 * @throws {ServiceError} CANCELLED when the intent is over; RPC_ERROR while the chains do not answer.
 */
export async function planPending(tools: PlanningTools, intentId: string): Promise<ExecutionPlan> {
  const { db, chains } = tools
  const known = await db.transaction((trx) => lockIntent(trx, intentId))
  if (isSettled(known)) return planOf(known)
  const wallet = await getWalletById(db, known.walletId)
  const market = await readMarket(db, chains, wallet.address)
  return db.transaction(async (trx) => {
    await lockWallet(trx, known.walletId)
    const intent = await lockIntent(trx, intentId)
    if (isSettled(intent)) return planOf(intent)
    const plan = await planWithReservations(trx, intent.walletId, requestOf(intent), market)
    await setPlan(trx, intentId, plan)
    await reserve(tools, trx, intent, plan)
    return plan
  })
}

const isSettled = ({ plan, status }: Intent) => plan !== null || isTerminal(status)

function planOf({ plan }: Intent): ExecutionPlan {
  if (plan) return plan
  throw new ServiceError('CANCELLED', 'The intent is over.')
}

/** Every step of a plan spends its amount on its chain. */
async function reserve(
  { registry }: Pick<PlanningTools, 'registry'>,
  trx: Db,
  intent: Intent,
  plan: ExecutionPlan,
): Promise<void> {
  for (const step of plan.steps) {
    const { chainId, usdc } = registry.get(step.chain)
    await insertReservation(trx, {
      intentId: intent.id,
      sequence: step.sequence,
      walletId: intent.walletId,
      chainId,
      token: usdc.address,
      units: toUnits(step.amount, usdc.decimals),
    })
  }
}
