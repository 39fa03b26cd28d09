import { defaultLimits, type PriceLimits } from '../limits.js'
import type { BridgeSpeed } from '../intent.js'
import type { Rate } from '../yields.js'

/** What a chain offers at the moment of planning. */
export type ChainState = {
  chain: string
  /** Base units of the asset that the wallet can spend: its balance less what is reserved. */
  availableUnits: bigint
  /** Cost of one operation of each kind, USD. */
  gasUsd: Record<GasKind, number>
  /** What a step takes there, seconds. */
  stepSeconds: [lower: number, upper: number]
}
export type GasKind = 'deposit' | 'withdraw' | 'swap' | 'burn' | 'mint'

/** A way over a bridge. Of several for one pair of chains the first one that can carry the amount is taken. */
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
 * What a swap of `unitsIn` base units of `from` would bring now. Less is swapped in proportion. Of several
 * for one pair the one that brings most is taken.
 */
export type SwapQuote = {
  chain: string
  protocol: string
  from: string
  to: string
  unitsIn: bigint
  unitsOut: bigint
  /** What it would bring at the average price of the last minutes. Absent: its pool cannot tell. */
  averageUnitsOut?: bigint
}

/** What a wallet has in a market, in base units of the market's asset. */
export type PositionState = {
  chain: string
  protocol: string
  market: string
  asset: string
  /** Worth now, less what other intents take out. */
  availableUnits: bigint
  /** What the market could pay out now, whoever asks. */
  liquidityUnits: bigint
  /** Another intent takes money out and is not over: everything cannot be taken then. */
  isBusy: boolean
}

/** What is not offered although it is listed: a market, or all of a chain. `why` is a clause. */
export type DisabledPart = { chain: string; protocol?: string; why: string }

/**
 * A chain that is disabled because operators have paused it. Its money does not count; without `availableUnits`
 * nobody can tell what there is. `why` is a clause.
 */
export type PausedChain = { chain: string; why: string; availableUnits?: bigint }

/** All that a plan is decided from. Every token has ASSET_DECIMALS decimals. */
export type MarketState = {
  chains: ChainState[]
  rates: Rate[]
  routes: BridgeRoute[]
  swaps: SwapQuote[]
  positions: PositionState[]
  /** Not among the rates. Absent: nothing is disabled. */
  disabled?: DisabledPart[]
  /** Not among the chains. Absent: none is paused. */
  paused?: PausedChain[]
  /** Absent: the usual ones. */
  limits?: PriceLimits
}

export const limitsOf = ({ limits = defaultLimits }: MarketState): PriceLimits => limits
