const DECIMALS = 6

/** Converts USDC to base units, e.g. `'0.25'` to `250_000n`. Integers avoid rounding errors of floats. */
export function toUnits(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const units = BigInt(whole + fraction.padEnd(DECIMALS, '0'))
  return text.startsWith('-') ? -units : units
}

/** Converts base units to USDC, e.g. `250_000n` to `'0.25'`. */
export function toText(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(DECIMALS + 1, '0')
  const whole = digits.slice(0, -DECIMALS)
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}${fraction && '.'}${fraction}`
}

export const sum = (amounts: bigint[]) => amounts.reduce((total, units) => total + units, 0n)
