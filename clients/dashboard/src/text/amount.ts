/** Formats amounts. The API returns decimal text or numbers in whole tokens. */

const MAX_SHOWN = 6

/**
 * Groups the digits of an amount and marks cut decimals.
 *
 * @param amount - Decimal text or a number in whole tokens, e.g. `1234.500001`.
 * @returns `1,234.500001`. More than 6 decimals are cut, never rounded, and marked with `…`.
 */
export function amountText(amount: string | number, locale?: string): string {
  const text = plainDecimal(amount)
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const sign = text.startsWith('-') ? '−' : ''
  const kept = fraction.slice(0, MAX_SHOWN)
  const rest = fraction.slice(MAX_SHOWN).replace(/0+$/, '')
  const decimals = kept ? `${decimalSign(locale)}${kept}` : ''
  return `${sign}${BigInt(whole).toLocaleString(locale)}${decimals}${rest ? '…' : ''}`
}

/**
 * Cuts an amount to two decimals, for lists. A positive amount below a cent is never shown as zero.
 *
 * @param amount - Decimal text in whole tokens, e.g. `1234.509`.
 * @returns `1,234.50`, `< 0.01`, or `0` for exactly zero.
 */
export function centsText(amount: string, locale?: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  const cents = fraction.slice(0, 2).padEnd(2, '0')
  const isZero = !/[1-9]/.test(whole + cents)
  if (isZero) return /[1-9]/.test(fraction) ? `${amount.startsWith('-') ? '−' : ''}< 0.01` : '0'
  return amountText(`${whole}.${cents}`, locale)
}

/** The decimal text of a JSON number, without an exponent. */
function plainDecimal(amount: string | number): string {
  if (typeof amount === 'string') return amount
  const text = String(amount)
  return text.includes('e') ? amount.toFixed(18).replace(/\.?0+$/, '') : text
}

const decimalSign = (locale?: string) => (1.5).toLocaleString(locale).charAt(1)

/**
 * Formats dollars with two decimals. A positive amount below a cent is never shown as zero.
 *
 * @returns `$1,234.50`, `< $0.01`, `$0.00` for exactly zero, or `unknown` for null.
 */
export function usdText(usd: number | null, locale?: string): string {
  if (usd === null) return 'unknown'
  const style = { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  const size = Math.abs(usd)
  const sign = usd < 0 ? '−' : ''
  if (size > 0 && size < 0.01) return usd < 0 ? '−< $0.01' : '< $0.01'
  return `${sign}$${size.toLocaleString(locale, style)}`
}

/** An estimate in dollars: `about $0.02`, `< $0.01` or `unknown`. */
export function aboutUsd(usd: number | null): string {
  const text = usdText(usd)
  return text.startsWith('$') ? `about ${text}` : text
}

/** A yearly yield in percent: `4.12 %`. */
export const percentText = (percent: number, locale?: string) =>
  `${percent.toLocaleString(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 })} %`

/** The exact sum of decimal texts: `0.1` and `0.2` are `0.3`. */
export function sumText(amounts: readonly string[]): string {
  const places = Math.max(0, ...amounts.map((amount) => amount.split('.')[1]?.length ?? 0))
  const units = amounts.map((amount) => toUnits(amount, places)).reduce((a, b) => a + b, 0n)
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places)
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`
}

function toUnits(amount: string, places: number): bigint {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  const units = BigInt(whole + fraction.padEnd(places, '0'))
  return amount.startsWith('-') ? -units : units
}
