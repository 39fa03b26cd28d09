import { describe, expect, test } from 'vitest'
import { SHARE_SCALE, earnedUnits, type Flow } from '../../domain/earnings.js'

const usdc = 1_000_000n
/** A share price of so many percent of one. */
const percent = (value: bigint) => (SHARE_SCALE * value) / 100n
const flow = (kind: Flow['kind'], units: bigint, price: bigint): Flow => ({
  ...{ kind, units, sharePrice: percent(price) },
})

describe('earnedUnits', () => {
  test('the interest on each deposit since it was made', () => {
    const flows = [flow('deposit', 100n * usdc, 100n), flow('deposit', 100n * usdc, 110n)]
    expect(earnedUnits(flows, percent(110n))).toBe(10n * usdc)
    expect(earnedUnits(flows, percent(121n))).toBe(31n * usdc)
  })

  test('keeps what was earned before a withdrawal', () => {
    const flows = [flow('deposit', 100n * usdc, 100n), flow('withdraw', 110n * usdc, 110n)]
    expect(earnedUnits(flows, percent(200n))).toBe(10n * usdc)
    expect(earnedUnits(flows, null)).toBe(10n * usdc)
  })

  test('earns nothing on shares that others sent, also when they are withdrawn', () => {
    const flows = [flow('deposit', 100n * usdc, 100n), flow('withdraw', 500n * usdc, 110n)]
    expect(earnedUnits(flows, percent(200n))).toBe(10n * usdc)
    const again = [...flows, flow('deposit', 50n * usdc, 200n)]
    expect(earnedUnits(again, percent(300n))).toBe(35n * usdc)
  })

  test('a fall of the share price is a loss', () => {
    expect(earnedUnits([flow('deposit', 100n * usdc, 100n)], percent(90n))).toBe(-10n * usdc)
  })

  test('rounds to the nearest base unit', () => {
    const flows = [{ ...flow('deposit', 7n, 100n), sharePrice: (SHARE_SCALE * 7n) / 3n }]
    expect(earnedUnits(flows, (SHARE_SCALE * 7n) / 3n)).toBe(0n)
  })

  test('undefined while a price is unknown', () => {
    const deposit = flow('deposit', usdc, 100n)
    expect(earnedUnits([{ ...deposit, sharePrice: null }], percent(100n))).toBeUndefined()
    expect(earnedUnits([deposit], null)).toBeUndefined()
    expect(earnedUnits([], null)).toBe(0n)
  })
})
