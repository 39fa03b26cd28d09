import { ServiceError } from '../errors.js'
import { assetText } from '../money.js'
import type { Funds } from '../intent.js'
import type { ChainState, MarketState } from './market.js'

/**
 * INSUFFICIENT_FUNDS of an amount that has to lie on one chain, with `required`, `available` (the most on
 * one of the `counted` chains) and `funds` (what lies where, on all chains), all decimal text.
 */
export function insufficientFunds(
  { asset, amountUnits }: { asset: string; amountUnits: bigint },
  { chains }: MarketState,
  counted: ChainState[],
): ServiceError {
  const most = counted.reduce((max, c) => (c.availableUnits > max ? c.availableUnits : max), 0n)
  const total = counted.reduce((sum, { availableUnits }) => sum + availableUnits, 0n)
  const required = assetText(amountUnits)
  const available = assetText(most)
  const where = counted.length === 1 && counted[0] ? counted[0].chain : 'one chain'
  const message = `The intent needs ${required} ${asset} on ${where}, ${available} is available.`
  const spread = `There are ${assetText(total)} ${asset} on several chains together.`
  const funds = chains.map(({ chain, availableUnits }): Funds => ({
    chain,
    asset,
    amount: assetText(availableUnits),
  }))
  return new ServiceError('INSUFFICIENT_FUNDS', total > most ? `${message} ${spread}` : message, {
    required,
    available,
    funds,
  })
}
