/**
 * Whole tokens: `12.5`, `'12.5'` or `12n`. Text and bigint are sent exactly. The API rejects a number with more than
 * 15 digits, because it may be rounded.
 */
export type Amount = number | string | bigint

/** @throws {TypeError} for NaN and Infinity, which JSON cannot express. */
export function toAmount(amount: Amount): number | string {
  if (typeof amount === 'bigint') return amount.toString()
  if (typeof amount === 'number' && !Number.isFinite(amount)) {
    throw new TypeError(`amount must be a finite number or decimal text, not ${amount}.`)
  }
  return amount
}
