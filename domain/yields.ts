/** The current rate of a market. `market` is the contract that receives deposits. */
export type Rate = {
  chain: string
  protocol: string
  market: string
  asset: string
  apyPercent: number
  /** Base units of the asset that the market accepts now. Zero while it is closed. Absent when unbounded. */
  capacityUnits?: bigint
}

/** False while a market accepts no deposits. */
export const isOpen = ({ capacityUnits }: Rate): boolean => capacityUnits !== 0n

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
