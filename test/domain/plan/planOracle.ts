import type { BridgeRequest, LendRequest, WithdrawRequest } from '../../../domain/intent/intent.js'
import type {
  BridgeRoute,
  GasKind,
  MarketState,
  PositionState,
} from '../../../domain/plan/market.js'
import { largest } from '../../../domain/money.js'
import type { Rate } from '../../../domain/yields.js'

/**
 * The expected result of the planner, by exhaustive search. Every asset has six decimals here, so that a base unit
 * counts as a millionth of a dollar and all costs are whole numbers.
 */
export type OracleRoute = {
  rate: Rate
  isBridged: boolean
  depositUnits: bigint
  costUnits: bigint
}

export function gasOf(state: MarketState, chain: string, ...kinds: GasKind[]): bigint {
  const gasUsd = state.chains.find((one) => one.chain === chain)?.gasUsd
  return kinds.reduce((sum, kind) => sum + BigInt(Math.round((gasUsd?.[kind] ?? 0) * 1e6)), 0n)
}

/** The fee in base units, found by counting up. */
export function feeOf({ feeMillionths }: BridgeRoute, amountUnits: bigint): bigint {
  const whole = (amountUnits * feeMillionths) / 1_000_000n
  return whole * 1_000_000n < amountUnits * feeMillionths ? whole + 1n : whole
}

/** The highest output of any pool for an amount at a fair price. */
export function swapped(
  state: MarketState,
  chain: string,
  from: string,
  to: string,
  amount: bigint,
) {
  let most = 0n
  for (const pool of state.swaps) {
    if (pool.chain !== chain || pool.from !== from || pool.to !== to || !pool.unitsIn) continue
    // A dollar is never sold for less than 99 cents, and none worth less is bought.
    if (pool.unitsOut * 100n < pool.unitsIn * 99n) continue
    if (pool.unitsOut * 100n > pool.unitsIn * 101n) continue
    const output = (amount * pool.unitsOut) / pool.unitsIn
    if (output > most) most = output
  }
  return most
}

function firstRoute(
  { chains, routes }: MarketState,
  from: string,
  to: string,
  amountUnits: bigint,
): BridgeRoute | undefined {
  if (![from, to].every((name) => chains.some(({ chain }) => chain === name))) return undefined
  for (const route of routes) {
    if (route.from !== from || route.to !== to) continue
    // A fee is at most a five-hundredth of the amount.
    if (route.feeMillionths > 2_000n) continue
    if (route.maxUnits >= amountUnits && feeOf(route, amountUnits) < amountUnits) return route
  }
  return undefined
}

/** Each reachable market with the route of the money to it. */
export function waysOf(request: LendRequest, state: MarketState): OracleRoute[] {
  const ways: OracleRoute[] = []
  for (const rate of state.rates) {
    if (request.chain !== undefined && request.chain !== rate.chain) continue
    const way = wayTo(request, state, rate)
    if (way) ways.push(way)
  }
  return ways
}

function wayTo(request: LendRequest, state: MarketState, rate: Rate): OracleRoute | undefined {
  const ways: (OracleRoute & { moveUnits: bigint })[] = []
  for (const { chain, availableUnits } of state.chains) {
    const way =
      availableUnits < request.amountUnits ? undefined : wayFrom(chain, request, state, rate)
    if (way) ways.push(way)
  }
  // The first of several with the same cost: sorting is stable.
  ways.sort((a, b) => Number(a.moveUnits - b.moveUnits))
  const fits = ({ depositUnits }: OracleRoute) =>
    rate.capacityUnits === undefined || depositUnits <= rate.capacityUnits
  const there = ways.find(({ isBridged }) => !isBridged)
  return (there ? [there] : ways).find(fits)
}

function wayFrom(from: string, request: LendRequest, state: MarketState, rate: Rate) {
  const { asset, amountUnits } = request
  const isBridged = from !== rate.chain
  const route = firstRoute(state, from, rate.chain, amountUnits)
  if (isBridged && !route) return undefined
  const fee = isBridged && route ? feeOf(route, amountUnits) : 0n
  const moveGas = gasOf(state, from, 'burn') + gasOf(state, rate.chain, 'mint')
  const moveUnits = isBridged ? fee + moveGas : 0n
  const isSwapped = rate.asset !== asset
  const canReturn = swapped(state, rate.chain, rate.asset, asset, 10n ** 12n) > 0n
  if (isSwapped && !canReturn) return undefined
  const arrives = amountUnits - fee
  const depositUnits = isSwapped ? swapped(state, rate.chain, asset, rate.asset, arrives) : arrives
  const lastGas = gasOf(state, rate.chain, 'deposit', ...(isSwapped ? ['swap' as const] : []))
  const costUnits = moveUnits + largest(arrives - depositUnits, 0n) + lastGas
  return depositUnits > 0n ? { rate, isBridged, depositUnits, costUnits, moveUnits } : undefined
}

/** The final value of a deposit, in 1 / 365,000,000 base units. APYs have four decimals here. */
export function netOf(
  {
    apyPercent,
    depositUnits,
    costUnits,
  }: Omit<OracleRoute, 'rate' | 'isBridged'> & { apyPercent: number },
  days: number,
): bigint {
  const apy = BigInt(Math.round(apyPercent * 1e4))
  return depositUnits * apy * BigInt(days) - costUnits * 365_000_000n
}

/** The output of a position in the requested asset for a withdrawn amount. */
export function worthOf(state: MarketState, one: PositionState, asset: string, amount: bigint) {
  return one.asset === asset ? amount : swapped(state, one.chain, one.asset, asset, amount)
}

/** The positions that a withdrawal may use. */
export function withdrawable({ chain, asset }: WithdrawRequest, state: MarketState) {
  if (!state.chains.some((one) => one.chain === chain)) return []
  return state.positions.filter(
    (one) =>
      one.chain === chain && (one.asset === asset || worthOf(state, one, asset, 10n ** 12n) > 0n),
  )
}

export function canWithdraw(request: WithdrawRequest, state: MarketState): boolean {
  const { amountUnits, asset } = request
  const all = withdrawable(request, state)
  const worthwhile = all.filter((one) => worthOf(state, one, asset, one.availableUnits) > 0n)
  let total = 0n
  let payable = 0n
  for (const one of worthwhile) {
    const liquid = one.liquidityUnits < one.availableUnits ? one.liquidityUnits : one.availableUnits
    total += worthOf(state, one, asset, one.availableUnits)
    payable += worthOf(state, one, asset, liquid)
  }
  const isLiquid = worthwhile.every((one) => one.liquidityUnits >= one.availableUnits)
  if (amountUnits === 'max') return total > 0n && isLiquid && !all.some(({ isBusy }) => isBusy)
  if (total === 0n) return false
  if (amountUnits <= payable) return true
  const isIdle = !worthwhile.some(({ isBusy }) => isBusy)
  const missing = amountUnits - total
  return missing <= 10n && missing * 1_000n <= amountUnits && isLiquid && isIdle
}

export function canBridge(request: BridgeRequest, state: MarketState): boolean {
  const { fromChain, toChain, amountUnits } = request
  const source = state.chains.find(({ chain }) => chain === fromChain)
  if (!source || source.availableUnits < amountUnits) return false
  return firstRoute(state, fromChain, toChain, amountUnits) !== undefined
}
