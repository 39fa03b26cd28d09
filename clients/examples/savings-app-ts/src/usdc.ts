const DECIMALS = 6

/** `'0.25'` is 250000n. Money is counted in whole units: a float would lose cents. */
export function toUnits(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const units = BigInt(whole + fraction.padEnd(DECIMALS, '0'))
  return text.startsWith('-') ? -units : units
}

/** 250000n is `'0.25'`. */
export function toText(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(DECIMALS + 1, '0')
  const whole = digits.slice(0, -DECIMALS)
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}${fraction && '.'}${fraction}`
}

export const sum = (amounts: bigint[]) => amounts.reduce((total, units) => total + units, 0n)
