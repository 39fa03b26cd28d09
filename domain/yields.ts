/** What a market pays at the moment. `market` is the contract that deposits go to. */
export type Rate = {
  chain: string
  protocol: string
  market: string
  asset: string
  apyPercent: number
  /** Base units of the asset that it takes in now: none while it is closed. Absent where nothing bounds it. */
  roomUnits?: bigint
}

/** False while a market takes nothing in. */
export const isOpen = ({ roomUnits }: Rate): boolean => roomUnits !== 0n

/** The rate with the highest APY, undefined when there is none. Among equals the first one wins. */
export function bestRate(rates: Rate[]): Rate | undefined {
  return rates.reduce<Rate | undefined>(
    (best, rate) => (best === undefined || rate.apyPercent > best.apyPercent ? rate : best),
    undefined,
  )
}

/** Why the best of some rates is the best, for a person to read. */
export function explainBest(best: Rate, rates: Rate[]): string {
  const { protocol, chain, asset, apyPercent } = best
  const others =
    rates.length === 1 ? 'the only rate that matches' : `the best of ${rates.length} rates`
  return `${protocol} on ${chain} pays ${apyPercent.toFixed(2)} % on ${asset}, ${others}.`
}
