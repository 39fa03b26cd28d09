import {
  insertIntent,
  lockIntent,
  readSeenBlocks,
  type StoredIntent,
  type Owner,
} from '../db/intents/intents.js'
import { requestOf } from '../db/intents/storedRequest.js'
import { setPlan } from '../db/intents/status.js'
import {
  insertReservation,
  lockWallet,
  type PlannedReservation,
} from '../db/intents/reservations.js'
import { transactScoped } from '../db/client/scope.js'
import { getWalletById } from '../db/accounts/wallets.js'
import { ServiceError } from '../domain/errors.js'
import {
  sourceStepOf,
  isTerminal,
  spendingChain,
  plannedWithdrawal,
} from '../domain/intent/intent.js'
import { assetUnits } from '../domain/money.js'
import { assertLargeEnough } from '../domain/smallestAmount.js'
import { isLack } from '../domain/plan/insufficientFunds.js'
import { acceptFault, assertFaultPossible, faultIn } from '../domain/simulate.js'
import { getMarket } from '../evm/lending/markets.js'
import { findUnindexed, listUnindexed } from './waitForIndex.js'
import { readMarket, type MarketTools } from './market.js'
import { planWithReservations, type PlanInput } from './plan.js'
import { findToken, type Registry } from '../evm/registry.js'
import type { Db } from '../db/client/connect.js'
import type { StepPlan, IntentRequest, PlanStep } from '../domain/intent/intent.js'

export type PlanningTools = MarketTools & { registry: Registry }

/** `db` is the caller's transaction where rows are written. */
type StoringTools = Pick<PlanningTools, 'db' | 'registry'>

/**
 * Plans a request and stores the intent with its reservations in the caller's transaction. When the chains did not
 * respond, or the money is in blocks that are not indexed, the intent is stored `pending` and its workflow plans it.
 *
 * @param input - Its market was read before the transaction began, so that no chain can delay the transaction.
 * @throws {ServiceError} INSUFFICIENT_FUNDS or INVALID_REQUEST. UNAVAILABLE when the request cannot be planned later.
 *   Nothing is stored then.
 */
export async function storeIntent(
  { db: trx, registry }: StoringTools,
  owner: Owner,
  input: PlanInput,
): Promise<StoredIntent> {
  const { walletId, metadata } = owner
  const { request } = input
  const fault = acceptFault(metadata, registry.network)
  await lockWallet(trx, walletId)
  const planned = await planWithReservations(trx, walletId, input).catch((error: unknown) =>
    laterIfUnknown(input, error),
  )
  if (planned) assertEnough(owner, input, planned)
  if (fault && planned) assertFaultPossible(fault, planned)
  // A simulated shortage appears when the workflow plans, as a real late shortage does.
  const plan = fault === 'INSUFFICIENT_FUNDS' ? undefined : planned
  return insertIntent(trx, owner, {
    request,
    units: unitsOf(request, planned),
    plan,
    ...(plan ? { reserved: reservationsOf(registry, plan) } : input.seen && { seen: input.seen }),
  })
}

/**
 * The plan that `storeIntent` would store now. Writes and locks nothing.
 *
 * @throws {ServiceError} INSUFFICIENT_FUNDS or INVALID_REQUEST as `storeIntent`. UNAVAILABLE when an unresponsive chain
 *   could change the result.
 */
export async function previewPlan(
  { db, registry }: StoringTools,
  owner: Owner,
  input: PlanInput,
): Promise<StepPlan> {
  const { accountId, walletId, metadata } = owner
  const fault = acceptFault(metadata, registry.network)
  try {
    const plan = await transactScoped(db, accountId, (trx) =>
      planWithReservations(trx, walletId, input),
    )
    assertEnough(owner, input, plan)
    if (fault) assertFaultPossible(fault, plan)
    return plan
  } catch (error) {
    throw isSilence(error) ? unavailable(error) : error
  }
}

/** A retry moves what is left, however little that is. */
function assertEnough({ retryOf }: Pick<Owner, 'retryOf'>, input: PlanInput, plan: StepPlan): void {
  const { request, market } = input
  if (retryOf === undefined) assertLargeEnough(request, plan, market.limits.smallest)
}

const isSilence = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'RPC_ERROR'

const unavailable = (cause: ServiceError) =>
  new ServiceError('UNAVAILABLE', `${cause.message} Try again.`, {}, { cause })

function laterIfUnknown({ request, seen }: PlanInput, error: unknown): undefined {
  // The row stores no `unswapped` amount, and the value of a whole position is unknown.
  const isKnown = request.amountUnits !== 'max' && !('unswapped' in request)
  if (isSilence(error) && !isKnown) throw unavailable(error)
  const isComing = isLack(error) && seen !== undefined && isKnown
  if (!isSilence(error) && !isComing) throw error
}

/** The amount of an intent: the requested one, or the value of the whole position. */
function unitsOf({ amountUnits }: IntentRequest, plan: StepPlan | undefined): bigint {
  if (amountUnits !== 'max') return amountUnits
  return plan ? plannedWithdrawal(plan) : 0n
}

/**
 * Plans an intent that was stored without a plan. Idempotent: an existing plan is returned.
 *
 * @throws {ServiceError} CANCELLED when the intent has ended. RPC_ERROR while the chains do not respond or the money is
 *   in blocks that are not indexed. INSUFFICIENT_FUNDS when the money is missing in the indexed blocks.
 */
export async function planPending(tools: PlanningTools, intentId: string): Promise<StepPlan> {
  const { db } = tools
  const known = await db.transaction((trx) => lockIntent(trx, intentId))
  if (isSettled(known)) return planOf(known)
  const wallet = await getWalletById(db, known.walletId)
  const request = requestOf(known)
  const input = { request, market: await readMarket(tools, wallet.address, request) }
  try {
    return await db.transaction((trx) => planLocked({ ...tools, db: trx }, known, input))
  } catch (error) {
    const isSimulated = faultIn(known.metadata) === 'INSUFFICIENT_FUNDS'
    if (isLack(error) && !isSimulated) await assertIndexed(db, { intent: known, wallet, input })
    throw error
  }
}

async function planLocked(
  { db: trx, registry }: StoringTools,
  { id, walletId, retryOf }: StoredIntent,
  input: PlanInput,
): Promise<StepPlan> {
  await lockWallet(trx, walletId)
  const intent = await lockIntent(trx, id)
  if (isSettled(intent)) return planOf(intent)
  if (faultIn(intent.metadata) === 'INSUFFICIENT_FUNDS') {
    const message = 'INSUFFICIENT_FUNDS was simulated, as requested by metadata.simulate.'
    throw new ServiceError('INSUFFICIENT_FUNDS', message)
  }
  const plan = await planWithReservations(trx, walletId, input)
  assertEnough(retryOf === null ? {} : { retryOf }, input, plan)
  await setPlan(trx, id, plan)
  for (const reservation of reservationsOf(registry, plan)) {
    await insertReservation(trx, { intentId: id, walletId, ...reservation })
  }
  return plan
}

/** Money is missing only when no seen block shows it. */
async function assertIndexed(
  db: Db,
  {
    intent,
    wallet,
    input,
  }: { intent: StoredIntent; wallet: { address: string }; input: PlanInput },
): Promise<void> {
  const { id, accountId, walletId } = intent
  const unindexed = await listUnindexed(db, await readSeenBlocks(db, id))
  const spender = { accountId, walletId, address: wallet.address }
  const [first] =
    unindexed.length > 0 ? unindexed : ((await findUnindexed(db, spender, input)) ?? [])
  if (!first) return
  const name = input.market.clients.find(({ chain }) => chain.chainId === first.chainId)?.chain.name
  const message = `The money was seen on ${name ?? 'a chain'} in block ${first.number}, which is not indexed yet.`
  throw new ServiceError('RPC_ERROR', message)
}

const isSettled = ({ plan, status }: StoredIntent) => plan !== null || isTerminal(status)

function planOf({ plan }: StoredIntent): StepPlan {
  if (plan) return plan
  throw new ServiceError('CANCELLED', 'The intent has already ended.')
}

/** The reservations of a plan: every step spends its amount on its chain. */
function reservationsOf(registry: Registry, plan: StepPlan): PlannedReservation[] {
  return plan.steps.map((step) => {
    const fedBy = sourceStepOf(plan, step)?.sequence
    const { sequence } = step
    return { sequence, ...spendingOf(registry, step), ...(fedBy !== undefined && { fedBy }) }
  })
}

/** What a step spends. A withdrawal spends the receipt token of its market. */
function spendingOf(
  registry: Registry,
  step: PlanStep,
): Omit<PlannedReservation, 'sequence' | 'fedBy'> {
  const chain = registry.get(spendingChain(step))
  const { chainId } = chain
  const units = assetUnits(step.amount)
  if (step.type === 'withdraw') {
    const { receiptToken } = getMarket(chain, step.market)
    const everything = step.everything === true
    return { chainId, token: receiptToken, units, market: step.market, everything }
  }
  const token = findToken(chain, step.asset)?.address
  if (!token) throw new Error(`No token ${step.asset} on ${chain.name} in this deployment.`)
  return { chainId, token, units, ...(step.type === 'deposit' ? { market: step.market } : {}) }
}
