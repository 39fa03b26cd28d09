import { ServiceError } from '../errors.js'
import { assetText } from '../money.js'
import type { LocatedFunds } from '../intent/intent.js'
import type { ChainState, MarketState } from './market.js'

/**
 * INSUFFICIENT_FUNDS for an amount that must be on one chain, with `required`, `available` (the most on one of the
 * `counted` chains) and `funds` (balances on all chains), all decimal text.
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
  const message = `The intent needs ${required} ${asset} on ${where}. ${available} is available.`
  const spread = `Several chains together have ${assetText(total)} ${asset}.`
  const funds = [...chains, ...paused].flatMap(({ chain, availableUnits }): LocatedFunds[] => {
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
 * Money that an intent reserves. `open`: its step will spend it. `not_final`: its step has failed, and the money is
 * released at `until`, once a reorg is unlikely to reverse the failure. Without `until` the failure is not confirmed.
 */
export type ReservedMoney = {
  intentId: string
  step: number
  chain: string
  asset: string
  units: bigint
  since: Date
  why: 'open' | 'not_final'
  until?: Date
}

/** Adds `held` to INSUFFICIENT_FUNDS: which intents of the wallet reserve how much of the money, and why. */
export function withHeld(
  { code, message, details }: ServiceError,
  held: ReservedMoney[],
): ServiceError {
  if (code !== 'INSUFFICIENT_FUNDS') throw new Error(`${code} is not INSUFFICIENT_FUNDS.`)
  const reported = held.map(({ units, since, until, ...one }) => ({
    ...one,
    amount: assetText(units),
    since: since.toISOString(),
    ...(until && { until: until.toISOString() }),
  }))
  const sentences = [message, ...sentencesOf(held)]
  return new ServiceError(code, sentences.join(' '), {
    ...details,
    ...(reported.length > 0 ? { held: reported } : {}),
  })
}

/** A funding that has not arrived yet. */
export type Coming = {
  fundingId: string
  chain: string
  asset: string
  units: bigint
  since: Date
}

/** Adds `onItsWay` to INSUFFICIENT_FUNDS: the fundings that have not arrived yet. */
export function withComing(error: ServiceError, coming: Coming[]): ServiceError {
  const [first] = coming
  if (!first) return error
  const { message, details } = error
  const units = coming.reduce((sum, one) => sum + one.units, 0n)
  const sentence = `${assetText(units)} ${first.asset} are on their way. See details.onItsWay.`
  const onItsWay = coming.map(({ units: own, since, ...one }) => ({
    ...one,
    amount: assetText(own),
    since: since.toISOString(),
  }))
  return new ServiceError('INSUFFICIENT_FUNDS', `${message} ${sentence}`, { ...details, onItsWay })
}

function sentencesOf(held: ReservedMoney[]): string[] {
  const [open, failed] = [sumOf(held, 'open'), sumOf(held, 'not_final')]
  const times = held.flatMap(({ until }) => until?.getTime() ?? [])
  const last = times.length > 0 ? new Date(Math.max(...times)).toISOString() : undefined
  const end = last ?? 'the failure of an intent is confirmed'
  return [
    ...(open ? [`${open} are reserved by other intents. See details.held.`] : []),
    ...(failed
      ? [
          `${failed} are reserved until ${end}: a reorg could still reverse the failure of an intent.`,
        ]
      : []),
  ]
}

/** Undefined when there are none. */
function sumOf(held: ReservedMoney[], why: ReservedMoney['why']): string | undefined {
  const some = held.filter((one) => one.why === why)
  const [first] = some
  const units = some.reduce((sum, one) => sum + one.units, 0n)
  return first && `${assetText(units)} ${first.asset}`
}
