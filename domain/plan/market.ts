import { defaultLimits, type PlanLimits } from '../limits.js'
import type { BridgeSpeed } from '../intent/intent.js'
import type { Rate } from '../yields.js'

/** State of a chain at planning. */
export type ChainState = {
  chain: string
  /** Base units of the asset that the wallet can spend: its balance less what is reserved. */
  availableUnits: bigint
  /** Cost of one operation of each kind, USD. Undefined while the price of ETH is unknown. */
  gasUsd: Record<GasKind, number> | undefined
  /** Duration of a step on the chain, in seconds. */
  stepSeconds: [lower: number, upper: number]
}
export type GasKind = 'deposit' | 'withdraw' | 'swap' | 'burn' | 'mint'

/** A bridge route. Of several routes for a pair of chains, the first that can move the amount is used. */
export type BridgeRoute = {
  protocol: string
  from: string
  to: string
  speed: BridgeSpeed
  /** The fee: millionths of the amount, rounded up to a base unit. */
  feeMillionths: bigint
  /** The most base units that one transfer may move. */
  maxUnits: bigint
  /** From the burn to the attestation, seconds. */
  seconds: [lower: number, upper: number]
}

/**
 * Output of a swap of `unitsIn` base units of `from` now. Smaller amounts scale in proportion. Of several quotes for a
 * pair, the one with the highest output is used.
 */
export type SwapQuote = {
  chain: string
  protocol: string
  from: string
  to: string
  unitsIn: bigint
  unitsOut: bigint
  /** Output at the average price of the last minutes. Absent when the pool does not report it. */
  averageUnitsOut?: bigint
}

/** A wallet's position in a market, in base units of the market's asset. */
export type PositionState = {
  chain: string
  protocol: string
  market: string
  asset: string
  /** Current value minus the withdrawals of other intents. */
  availableUnits: bigint
  /** Cash that the market could pay out now to all its users. */
  liquidityUnits: bigint
  /** True while another intent withdraws. The whole position cannot be withdrawn then. */
  isBusy: boolean
}

/** A listed market or chain that is disabled. `why` is a clause. */
export type DisabledPart = { chain: string; protocol?: string; why: string }

/**
 * A chain that operators have paused. Its money does not count. Without `availableUnits` the balance is unknown. `why`
 * is a clause.
 */
export type PausedChain = { chain: string; why: string; availableUnits?: bigint }

/** The whole input of a plan. Every token has ASSET_DECIMALS decimals. */
export type MarketState = {
  chains: ChainState[]
  rates: Rate[]
  routes: BridgeRoute[]
  swaps: SwapQuote[]
  positions: PositionState[]
  /** Excluded from the rates. Absent: nothing is disabled. */
  disabled?: DisabledPart[]
  /** Markets that could not be read, or whose answers are not plausible. Absent: none. */
  unreadable?: DisabledPart[]
  /** Excluded from the chains. Absent: none is paused. */
  paused?: PausedChain[]
  /** True while no feed reports a price of USDC, or one outside the limits. Absent: it is worth a dollar. */
  isDollarUnknown?: boolean
  /** Absent: the defaults. */
  limits?: PlanLimits
}

export const limitsOf = ({ limits = defaultLimits }: MarketState): PlanLimits => limits
