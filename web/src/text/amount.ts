/** How amounts are shown. The API tells them as decimal text or numbers in whole tokens; no digit is invented. */

const MAX_SHOWN = 6

/**
 * Groups digits for reading, and says when some were left out.
 *
 * @param amount - Decimal text or a number in whole tokens, e.g. `1234.500001`.
 * @returns `1,234.500001`; with more than six decimals the first six and `…`, since nothing is rounded.
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

/** A number as JSON has it, without an exponent. */
function plainDecimal(amount: string | number): string {
  if (typeof amount === 'string') return amount
  const text = String(amount)
  return text.includes('e') ? amount.toFixed(18).replace(/\.?0+$/, '') : text
}

const decimalSign = (locale?: string) => (1.5).toLocaleString(locale).charAt(1)

/**
 * Dollars for reading: two decimals, and less than a cent said as such.
 *
 * @returns `$1,234.50`, `< $0.01`, `$0.00` for nothing at all.
 */
export function usdText(usd: number, locale?: string): string {
  const style = { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  const size = Math.abs(usd)
  const sign = usd < 0 ? '−' : ''
  if (size > 0 && size < 0.01) return usd < 0 ? '−< $0.01' : '< $0.01'
  return `${sign}$${size.toLocaleString(locale, style)}`
}

/** A yearly yield in percent: `4.12 %`. */
export const percentText = (percent: number, locale?: string) =>
  `${percent.toLocaleString(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 })} %`

/** Sums decimal texts exactly: `0.1` and `0.2` are `0.3`. */
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
