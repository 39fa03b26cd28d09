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
  { chains, paused = [] }: MarketState,
  counted: ChainState[],
): ServiceError {
  const most = counted.reduce((max, c) => (c.availableUnits > max ? c.availableUnits : max), 0n)
  const total = counted.reduce((sum, { availableUnits }) => sum + availableUnits, 0n)
  const required = assetText(amountUnits)
  const available = assetText(most)
  const where = counted.length === 1 && counted[0] ? counted[0].chain : 'one chain'
  const message = `The intent needs ${required} ${asset} on ${where}, ${available} is available.`
  const spread = `There are ${assetText(total)} ${asset} on several chains together.`
  const funds = [...chains, ...paused].flatMap(({ chain, availableUnits }): Funds[] => {
    return availableUnits === undefined ? [] : [{ chain, asset, amount: assetText(availableUnits) }]
  })
  return new ServiceError('INSUFFICIENT_FUNDS', total > most ? `${message} ${spread}` : message, {
    required,
    available,
    funds,
  })
}

export const isLack = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'INSUFFICIENT_FUNDS'

/**
 * Money that an intent holds. `open`: its step will spend it. `not_final`: its step has failed, and the money is free
 * once no reorg can turn that round.
 */
export type Held = {
  intentId: string
  step: number
  chain: string
  asset: string
  units: bigint
  since: Date
  why: 'open' | 'not_final'
}

/** INSUFFICIENT_FUNDS with `held`: which intents of the wallet hold how much of the money, and why. */
export function withHeld({ code, message, details }: ServiceError, held: Held[]): ServiceError {
  if (code !== 'INSUFFICIENT_FUNDS') throw new Error(`${code} does not lack money.`)
  const told = held.map(({ units, since, ...one }) => ({
    ...one,
    amount: assetText(units),
    since: since.toISOString(),
  }))
  const sentences = [message, ...sentencesOf(held)]
  return new ServiceError(code, sentences.join(' '), {
    ...details,
    ...(told.length > 0 ? { held: told } : {}),
  })
}

/** Test money that is on its way to the wallet. */
export type Coming = {
  fundingId: string
  chain: string
  asset: string
  units: bigint
  since: Date
}

/** INSUFFICIENT_FUNDS with `onItsWay`: the fundings that will bring more. */
export function withComing(error: ServiceError, coming: Coming[]): ServiceError {
  const [first] = coming
  if (!first) return error
  const { message, details } = error
  const units = coming.reduce((sum, one) => sum + one.units, 0n)
  const sentence = `${assetText(units)} ${first.asset} are on their way, see details.onItsWay.`
  const onItsWay = coming.map(({ units: own, since, ...one }) => ({
    ...one,
    amount: assetText(own),
    since: since.toISOString(),
  }))
  return new ServiceError('INSUFFICIENT_FUNDS', `${message} ${sentence}`, { ...details, onItsWay })
}

function sentencesOf(held: Held[]): string[] {
  const [open, failed] = [sumOf(held, 'open'), sumOf(held, 'not_final')]
  return [
    ...(open ? [`${open} are held for other intents, see details.held.`] : []),
    ...(failed
      ? [`${failed} are held until the failure of an intent is final: a reorg could still undo it.`]
      : []),
  ]
}

/** Undefined when there is nothing. */
function sumOf(held: Held[], why: Held['why']): string | undefined {
  const some = held.filter((one) => one.why === why)
  const [first] = some
  const units = some.reduce((sum, one) => sum + one.units, 0n)
  return first && `${assetText(units)} ${first.asset}`
}
