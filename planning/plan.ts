import { ServiceError, capabilityDisabled, invalidRequest } from '../domain/errors.js'
import { planIntent } from '../domain/plan/planIntent.js'
import { assetOf } from '../evm/lending/markets.js'
import {
  allDisabled,
  assertEnabled,
  chainsNamedBy,
  explainRefusal,
  listDisabled,
} from './disabled.js'
import { explainReserved } from './waitReasons.js'
import { needs, type ChainSnapshot, type MarketSnapshot } from './market.js'
import { toPausedChain } from './paused.js'
import { readReservedSpending, type PlanReservations } from './reserved.js'
import { planWithinCapacity } from './marketCapacity.js'
import { mayNeedUnread } from './routes.js'
import { isPegged } from '../evm/prices.js'
import { findToken } from '../evm/registry.js'
import type { PlanLimits } from '../domain/limits.js'
import type { ChainClient } from '../evm/connect.js'
import type { Db } from '../db/client/connect.js'
import type { SeenBlock } from '../db/intents/intents.js'
import type { StepPlan, IntentRequest } from '../domain/intent/intent.js'
import type { ChainState, DisabledPart, MarketState, PositionState } from '../domain/plan/market.js'

/**
 * A request with data of the chains and bridges. `seen`: heads that show money which the indexed blocks do not show.
 */
export type PlanInput = { request: IntentRequest; market: MarketSnapshot; seen?: SeenBlock[] }

/**
 * Plans a request with the money that is not reserved. The caller has locked the wallet's row, so that two intents never
 * use the same money.
 *
 * @throws {ServiceError} INSUFFICIENT_FUNDS or INVALID_REQUEST as `planIntent`, or with the reason `market_busy` while
 *   another intent withdraws everything from a market of the plan. RPC_ERROR when an unresponsive chain, or a bridge
 *   without known fees, could change the result. UNAVAILABLE with the reason `capability_disabled`.
 */
export async function planWithReservations(
  trx: Db,
  walletId: string,
  { request, market }: PlanInput,
): Promise<StepPlan> {
  assertEnabled(request, market.clients)
  const reservations = await readReservationsOf(trx, walletId, { request, market })
  const known = { ...market, ...dropReorganised(market, reservations) }
  try {
    return await planBeside(trx, reservations, { request, market: known })
  } catch (error) {
    throw await explainReserved(trx, error, { walletId, request, snapshots: known.snapshots })
  }
}

/**
 * Plans from the given balances, even if their blocks were reorganised.
 *
 * @throws {ServiceError} As `planWithReservations`, without `held`.
 */
export async function planFrom(
  trx: Db,
  walletId: string,
  input: Omit<PlanInput, 'seen'>,
): Promise<StepPlan> {
  return planBeside(trx, await readReservationsOf(trx, walletId, input), input)
}

/** Plans with the money and capacity that other intents leave. */
async function planBeside(
  trx: Db,
  reservations: PlanReservations,
  input: Omit<PlanInput, 'seen'>,
): Promise<StepPlan> {
  const { request, market } = input
  const { snapshots, silent } = market
  const named = chainsNamedBy(request)
  const missing = silent.filter((name) => needs(request, name))
  if (missing.some((name) => named.includes(name))) throw noAnswer(missing)
  if (snapshots.length === 0) {
    throw missing.length > 0 ? noAnswer(missing) : allDisabled(request, market.clients)
  }
  if (mayNeedUnread(request, market.unread)) missing.push('the bridge')
  const { asset } = request
  const chains = snapshots.map((snapshot) => toChainState(snapshot, asset, reservations))
  const positions = snapshots.flatMap((snapshot) => toPositions(snapshot, reservations))
  const paused = market.paused.map((holding) => toPausedChain(holding, asset, reservations))
  const swaps = snapshots.flatMap((snapshot) => snapshot.swaps)
  const disabled = listDisabled(market.clients)
  const unreadable = snapshots.flatMap(listUnreadable)
  assertComplete(request, unreadable)
  const { routes, limits } = market
  const isDollarUnknown = !hasDollarPrice(snapshots, limits)
  const known = { disabled, unreadable, paused, limits, isDollarUnknown }
  const state = { chains, routes, swaps, positions, ...known }
  const capacity = { offers: snapshots, reservedInMarkets: reservations.reservedInMarkets }
  const plan = await planWithinCapacity(trx, capacity, (rates) =>
    planOrExplain(request, { ...state, rates }, { missing, clients: market.clients }),
  )
  assertNotBusy(plan, snapshots, reservations)
  return plan
}

function planOrExplain(
  request: IntentRequest,
  state: MarketState,
  { missing, clients }: { missing: string[]; clients: ChainClient[] },
): StepPlan {
  try {
    return planIntent(request, state)
  } catch (error) {
    throw missing.length > 0
      ? noAnswer(missing)
      : explainRefusal(error, request, { state, clients })
  }
}

function readReservationsOf(
  trx: Db,
  walletId: string,
  { request, market }: Omit<PlanInput, 'seen'>,
): Promise<PlanReservations> {
  const balances = balancesOf(market, request.asset)
  return readReservedSpending(trx, walletId, { balances, offers: market.snapshots })
}

/** All token balances of the wallet that were read. */
function balancesOf(
  { snapshots, paused }: Pick<MarketSnapshot, 'snapshots' | 'paused'>,
  asset: string,
) {
  const tokens = ({ chain }: ChainClient) => findToken(chain, asset)?.address ?? []
  return [
    ...snapshots.map((snapshot) => {
      const receipts = snapshot.holdings.map(({ market }) => market.receiptToken)
      return { ...snapshot, tokens: [tokens(snapshot.client), receipts].flat() }
    }),
    ...paused.flatMap(({ client, indexed }) => {
      return indexed ? { client, indexed, tokens: [tokens(client)].flat() } : []
    }),
  ]
}

function toChainState(
  { client: { chain }, balanceUnits, gasUsd }: ChainSnapshot,
  asset: string,
  { reserved }: PlanReservations,
): ChainState {
  const { name, stepSeconds } = chain
  const token = findToken(chain, asset)?.address
  const availableUnits = less(balanceUnits, token ? reserved(chain, token) : 0n)
  return { chain: name, availableUnits, gasUsd, stepSeconds }
}

function toPositions(
  { client: { chain }, holdings }: ChainSnapshot,
  { reserved, use }: PlanReservations,
): PositionState[] {
  const filled = holdings.filter(({ units }) => units > 0n)
  return filled.map(({ market, units, liquidityUnits }) => ({
    chain: chain.name,
    protocol: market.protocol,
    market: market.address,
    asset: assetOf(chain, market),
    liquidityUnits,
    availableUnits: less(units, reserved(chain, market.receiptToken)),
    isBusy: use(chain, market.address).open,
  }))
}

const listUnreadable = ({ client: { chain }, unreadable }: ChainSnapshot): DisabledPart[] =>
  unreadable.map(({ market: { protocol }, why }) => ({ chain: chain.name, protocol, why }))

/** True when a feed reports a price of USDC, and none reports one outside the limits. */
function hasDollarPrice(snapshots: ChainSnapshot[], limits: PlanLimits): boolean {
  const prices = snapshots.flatMap(({ usdcPriceE8 }) => usdcPriceE8 ?? [])
  return prices.length > 0 && prices.every((price) => isPegged(price, limits))
}

/** Everything cannot be withdrawn while a position is unknown. */
function assertComplete(request: IntentRequest, unreadable: DisabledPart[]): void {
  if (request.action !== 'withdraw' || request.amountUnits !== 'max') return
  const part = unreadable.find(({ chain }) => chain === request.chain)
  const what = 'The whole position cannot be withdrawn'
  if (part)
    throw capabilityDisabled(what, `${part.protocol} on ${part.chain} is unknown, ${part.why}`)
}

const less = (units: bigint, heldUnits: bigint) => (units > heldUnits ? units - heldUnits : 0n)

/** While an intent withdraws everything, the money of another step would be withdrawn with it. */
function assertNotBusy(
  { steps }: StepPlan,
  snapshots: ChainSnapshot[],
  { use }: PlanReservations,
): void {
  for (const step of steps) {
    if (step.type !== 'deposit' && step.type !== 'withdraw') continue
    const at = snapshots.find(({ client }) => client.chain.name === step.chain)
    if (!at || !use(at.client.chain, step.market).everything) continue
    const message = `Another intent is withdrawing everything from ${step.protocol} on ${step.chain}. Try again when it has ended.`
    throw invalidRequest('chain', message, 'market_busy')
  }
}

/** Drops balances from reorganised blocks: money in them might count twice. */
function dropReorganised(
  { snapshots, silent }: MarketSnapshot,
  { isStillIndexed }: PlanReservations,
): Pick<MarketSnapshot, 'snapshots' | 'silent'> {
  const isKept = ({ client: { chain } }: ChainSnapshot) => isStillIndexed(chain)
  const dropped = snapshots.filter((one) => !isKept(one)).map(({ client }) => client.chain.name)
  return { snapshots: snapshots.filter(isKept), silent: [...silent, ...dropped] }
}

function noAnswer(silent: string[]): ServiceError {
  return new ServiceError('RPC_ERROR', `No response from ${silent.join(', ')}.`, { silent })
}
