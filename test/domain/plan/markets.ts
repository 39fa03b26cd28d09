import { ServiceError } from '../../../domain/errors.js'
import { toUnits } from '../../../domain/money.js'
import { planIntent } from '../../../domain/plan/planIntent.js'
import type { IntentRequest } from '../../../domain/intent/intent.js'
import type {
  BridgeRoute,
  ChainState,
  MarketState,
  PositionState,
  SwapQuote,
} from '../../../domain/plan/market.js'
import type { Rate } from '../../../domain/yields.js'

/** Base units of an amount in whole tokens of six decimals. */
export const units = (amount: string) => (amount === '0' ? 0n : toUnits(amount, 6))

/** Gas of each kind is a different power of two cents, so that a sum identifies its parts. */
export const usualGasUsd = { deposit: 0.01, withdraw: 0.02, swap: 0.04, burn: 0.08, mint: 0.16 }

export const chainOf = (
  chain: string,
  available: string,
  changes: Partial<ChainState> = {},
): ChainState => ({
  ...{ chain, availableUnits: units(available) },
  ...{ gasUsd: usualGasUsd, stepSeconds: [1, 5] },
  ...changes,
})

export const rateOf = (chain: string, apyPercent: number, changes: Partial<Rate> = {}): Rate => ({
  ...{ chain, protocol: 'aave-v3', market: `0xmarket-${chain}`, asset: 'USDC', apyPercent },
  ...changes,
})

export const routeOf = (
  from: string,
  to: string,
  changes: Partial<BridgeRoute> = {},
): BridgeRoute => ({
  ...{ protocol: 'cctp', from, to },
  ...{ speed: 'fast', feeMillionths: 100n, maxUnits: units('1000000') },
  seconds: [8, 20],
  ...changes,
})

export const quoteOf = (
  chain: string,
  from: string,
  to: string,
  rate: [unitsIn: bigint, unitsOut: bigint],
): SwapQuote => ({
  ...{ chain, protocol: 'uniswap-v3', from, to },
  ...{ unitsIn: rate[0], unitsOut: rate[1] },
})

/** A price from USDC to DAI, and an even one back. */
export const poolOf = (chain: string, rate: [unitsIn: bigint, unitsOut: bigint]): SwapQuote[] => [
  quoteOf(chain, 'USDC', 'DAI', rate),
  quoteOf(chain, 'DAI', 'USDC', [1n, 1n]),
]

export const positionOf = (
  chain: string,
  available: string,
  changes: Partial<PositionState> = {},
): PositionState => ({
  ...{ chain, protocol: 'aave-v3', market: `0xmarket-${chain}`, asset: 'USDC' },
  ...{ availableUnits: units(available), liquidityUnits: units('1000000'), isBusy: false },
  ...changes,
})

export const stateOf = (parts: Partial<MarketState>): MarketState => ({
  ...{ chains: [], rates: [], routes: [], swaps: [], positions: [] },
  ...parts,
})

/** The error of a request that cannot be planned. */
export function failureOf(request: IntentRequest, state: MarketState): ServiceError {
  try {
    planIntent(request, state)
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('It was planned.')
}
