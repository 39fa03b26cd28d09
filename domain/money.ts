import { invalidRequest, type ServiceError } from './errors.js'

/** A double represents 15 significant decimal digits exactly. */
const EXACT_DIGITS = 15
/** The largest amount of a token contract. */
const MAX_UNITS = 2n ** 256n - 1n
const decimalText = /^(0|[1-9]\d*)(\.\d+)?$/
const exponentText = /^\d+(\.\d+)?e[+-]?\d+$/i

/** Decimals of every asset of the service: USDC, and the dollar tokens that it is swapped for. */
export const ASSET_DECIMALS = 6

/**
 * Converts an amount in whole tokens to base units, digit by digit, without float arithmetic.
 *
 * @param amount - Whole tokens, a JSON number or decimal text, e.g. `12.5`.
 * @param decimals - Decimals of the token, e.g. `6` for USDC.
 * @returns Base units above zero, e.g. `12_500_000n`.
 * @throws {ServiceError} INVALID_REQUEST when the amount is not positive, not plain decimal, has more
 *   decimals than the token, is a JSON number of more than 15 significant digits, or above 2^256 - 1.
 */
export function toUnits(amount: number | string, decimals: number): bigint {
  const text = String(amount)
  if (!decimalText.test(text)) throw invalidAmount(faultOf(amount, decimals))
  const [whole = '', fraction = ''] = text.split('.')
  if (fraction.length > decimals) throw invalidAmount(atMost(decimals))
  const digits = (whole + fraction).replace(/^0+/, '')
  if (typeof amount === 'number' && digits.length > EXACT_DIGITS) {
    throw invalidAmount(asText)
  }
  const units = BigInt(whole + fraction.padEnd(decimals, '0'))
  if (units === 0n) throw invalidAmount('must be above zero')
  if (units > MAX_UNITS) throw invalidAmount('is above the maximum of a token')
  return units
}

/** Decimal text of base units, without trailing zeros, e.g. `fromUnits(12_500_000n, 6)` is `12.5`. */
export function fromUnits(units: bigint, decimals: number): string {
  if (units < 0n) return `-${fromUnits(-units, decimals)}`
  const digits = units.toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const fraction = digits.slice(point).replace(/0+$/, '')
  return digits.slice(0, point) + (fraction && `.${fraction}`)
}

/** `toUnits` of an asset of the service. */
export const assetUnits = (amount: number | string): bigint => toUnits(amount, ASSET_DECIMALS)

/** `fromUnits` of an asset of the service. */
export const assetText = (units: bigint): string => fromUnits(units, ASSET_DECIMALS)

/**
 * Cost of gas in USD.
 *
 * @param wei - Gas units times the price paid per unit, in wei.
 * @param ethPriceE8 - USD per ETH with 8 decimals, as a Chainlink feed returns it.
 * @returns USD, rounded down to a millionth.
 */
export function gasCostUsd(wei: bigint, ethPriceE8: bigint): number {
  return toUsd(wei, 18, ethPriceE8)
}

/**
 * Value of an amount in USD.
 *
 * @param units - Base units of a token of `decimals` decimals.
 * @param priceE8 - USD per whole token with 8 decimals.
 * @returns USD, rounded down to a millionth.
 */
export function toUsd(units: bigint, decimals: number, priceE8: bigint): number {
  const microUsd = (units * priceE8) / 10n ** BigInt(decimals + 2)
  return Number(microUsd) / 1e6
}

/** USD in base units of a dollar token, rounded up. */
export const usdUnits = (usd: number): bigint => BigInt(Math.ceil(usd * 1e6))

/** The largest of some amounts. */
export const largest = (first: bigint, ...others: bigint[]): bigint =>
  others.reduce((most, one) => (one > most ? one : most), first)

/** The smallest of some amounts. */
export const smallest = (first: bigint, ...others: bigint[]): bigint =>
  others.reduce((least, one) => (one < least ? one : least), first)

/** `a / b`, rounded up. Both are zero or above. */
export function divideUp(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b
}

/** Sum of values in USD that are exact to a millionth. */
export function sumUsd(values: number[]): number {
  return values.reduce((sum, value) => sum + Math.round(value * 1e6), 0) / 1e6
}

/** The sum of values in USD, null when one of them is unknown. */
export function sumKnownUsd(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === values.length ? sumUsd(known) : null
}

const atMost = (decimals: number) => `must have at most ${decimals} decimals`
const asText = `must be sent as text when it has more than ${EXACT_DIGITS} digits`
const invalidAmount = (rule: string): ServiceError => invalidRequest('amount', `amount ${rule}.`)

/** Why an amount is not a positive plain decimal. A JSON number has an exponent below 1e-6 and from 1e21. */
function faultOf(amount: number | string, decimals: number): string {
  const text = String(amount)
  if (/^-\d/.test(text)) return 'must be above zero'
  if (!exponentText.test(text)) return 'must be plain decimal digits, such as 12.5'
  if (typeof amount === 'string') return 'must be written without an exponent'
  return amount < 1 ? atMost(decimals) : asText
}
