import { effortOf, sumEfforts, type Effort } from './effort.js'
import { mostFee, type PriceLimits } from '../limits.js'
import { assetText, divideUp } from '../money.js'
import { limitsOf, type BridgeRoute, type MarketState } from './market.js'

/** A planned bridge transfer, in base units. `effort` covers the burn, the attestation and the mint. */
export type Transfer = {
  route: BridgeRoute
  amountUnits: bigint
  feeUnits: bigint
  maxFeeUnits: bigint
  arrivesUnits: bigint
  effort: Effort
}

/** Why no route can move an amount. */
export type TransferRefusal = {
  reason: 'no_route' | 'above_maximum' | 'above_fee_limit' | 'below_fee'
  clause: string
}

/**
 * Tolerance for a fee that rises between plan and burn. A burn with too low a maximum fee is not rejected: a fast
 * transfer becomes a standard one.
 */
const MAX_FEE_PERCENT = 120n

/** A transfer of an amount from one chain to another. */
export type Move = { asset: string; amountUnits: bigint; from: string; to: string }

/** Uses the first route that can move the amount at a fair fee with a remainder. Undefined when there is none. */
export function findTransfer(
  state: MarketState,
  { amountUnits, from, to }: Move,
): Transfer | undefined {
  const source = state.chains.find(({ chain }) => chain === from)
  const target = state.chains.find(({ chain }) => chain === to)
  const limits = limitsOf(state)
  const route = routesOf(state, from, to).find(
    (one) =>
      one.maxUnits >= amountUnits && isFair(one, limits) && feeOf(one, amountUnits) < amountUnits,
  )
  if (!source || !target || !route) return undefined
  const feeUnits = feeOf(route, amountUnits)
  // The bridge rejects a burn whose maximum fee is the whole amount.
  const maxFeeUnits = least([
    divideUp(feeUnits * MAX_FEE_PERCENT, 100n),
    mostFee(amountUnits, limits),
    amountUnits - 1n,
  ])
  const attested: Effort = { gasUsd: 0, seconds: route.seconds }
  return {
    route,
    amountUnits,
    feeUnits,
    maxFeeUnits,
    arrivesUnits: amountUnits - feeUnits,
    effort: sumEfforts([effortOf(source, 'burn'), attested, effortOf(target, 'mint')]),
  }
}

/** Why `findTransfer` returns undefined, as a clause that ends a sentence. */
export function refusalOf(
  state: MarketState,
  { asset, amountUnits, from, to }: Move,
): TransferRefusal {
  const routes = routesOf(state, from, to)
  const isKnown = [from, to].every((name) => state.chains.some(({ chain }) => chain === name))
  if (routes.length === 0 || !isKnown) {
    return { reason: 'no_route', clause: `there is no bridge from ${from} to ${to}` }
  }
  const bridge = `the bridge from ${from} to ${to}`
  const route = routes.find(({ maxUnits }) => maxUnits >= amountUnits)
  if (!route) {
    const most = routes.reduce((max, { maxUnits }) => (maxUnits > max ? maxUnits : max), 0n)
    const clause = `${bridge} moves at most ${assetText(most)} ${asset} at once`
    return { reason: 'above_maximum', clause }
  }
  const fair = routes.find((one) => one.maxUnits >= amountUnits && isFair(one, limitsOf(state)))
  const fee = assetText(feeOf(fair ?? route, amountUnits))
  if (!fair) {
    const most = assetText(mostFee(amountUnits, limitsOf(state)))
    const clause = `${bridge} takes a fee of ${fee} ${asset}, above the limit of ${most} ${asset}`
    return { reason: 'above_fee_limit', clause }
  }
  return {
    reason: 'below_fee',
    clause: `${bridge} takes a fee of ${fee} ${asset}, which leaves nothing`,
  }
}

const least = ([first, ...others]: [bigint, ...bigint[]]) =>
  others.reduce((a, b) => (b < a ? b : a), first)

const isFair = ({ feeMillionths }: BridgeRoute, { bridgeFeeBps }: PriceLimits) =>
  feeMillionths <= bridgeFeeBps * 100n

/** At least one base unit when there is a fee. */
function feeOf({ feeMillionths }: BridgeRoute, amountUnits: bigint): bigint {
  return divideUp(amountUnits * feeMillionths, 1_000_000n)
}

function routesOf({ routes }: MarketState, from: string, to: string): BridgeRoute[] {
  return routes.filter((route) => route.from === from && route.to === to)
}
