import { assetText } from './money.js'
import type { LendLimits } from './limits.js'

/** The current rate of a market. `market` is the contract that receives deposits. */
export type Rate = {
  chain: string
  protocol: string
  market: string
  asset: string
  apyPercent: number
  /** Base units of the asset that the market accepts now. Zero while it is closed. Absent when unbounded. */
  capacityUnits?: bigint
  /** Absent when the market reports it per lender only. */
  liquidity?: Liquidity
}

/** Base units that all lenders of a market's pool have lent, and those that it could pay out now. */
type Liquidity = { suppliedUnits: bigint; cashUnits: bigint }

/** False while a market accepts no deposits. */
export const isOpen = ({ capacityUnits }: Rate): boolean => capacityUnits !== 0n

const WHOLE_BPS = 10_000n

/** Why a deposit might not come out again, as a clause that ends a sentence. Undefined when the market has the cash. */
export function whyIlliquid(
  { asset, liquidity }: Rate,
  depositUnits: bigint,
  { utilizationBps, cashTimes }: LendLimits,
): string | undefined {
  if (!liquidity) return undefined
  const { suppliedUnits, cashUnits } = liquidity
  const lentUnits = suppliedUnits > cashUnits ? suppliedUnits - cashUnits : 0n
  if (lentUnits * WHOLE_BPS > suppliedUnits * utilizationBps) {
    const percent = Number((lentUnits * WHOLE_BPS) / suppliedUnits) / 100
    return `${percent.toFixed(2)} % of its deposits are borrowed`
  }
  if (cashUnits >= depositUnits * cashTimes) return undefined
  return `it has only ${assetText(cashUnits)} ${asset} of cash`
}

/** The rate with the highest APY, undefined without rates. The first of equal rates wins. */
export function bestRate(rates: Rate[]): Rate | undefined {
  return rates.reduce<Rate | undefined>(
    (best, rate) => (best === undefined || rate.apyPercent > best.apyPercent ? rate : best),
    undefined,
  )
}

/** Why a rate is the best, as a sentence for people. */
export function explainBest(best: Rate, rates: Rate[]): string {
  const { protocol, chain, asset, apyPercent } = best
  const others =
    rates.length === 1 ? 'the only rate that matches' : `the best of ${rates.length} rates`
  return `${protocol} on ${chain} pays ${apyPercent.toFixed(2)} % on ${asset}, ${others}.`
}
