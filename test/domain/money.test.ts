import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import {
  fromUnits,
  gasCostUsd,
  largest,
  smallest,
  sumUsd,
  toUnits,
  toUsd,
} from '../../domain/money.js'
import { holds } from './plan/holds.js'

const messageOf = (amount: number | string) => {
  try {
    return String(toUnits(amount, 6))
  } catch (error) {
    return (error as Error).message
  }
}

const refused = (amount: number | string, decimals = 6) => {
  expect(() => toUnits(amount, decimals)).toThrow(
    expect.objectContaining({
      code: 'INVALID_REQUEST',
      details: { issues: [{ path: 'amount', message: expect.any(String) }] },
    }),
  )
}

describe('toUnits', () => {
  test.each([
    [1, 6, 1_000_000n],
    [12.5, 6, 12_500_000n],
    [0.000001, 6, 1n],
    ['0.000001', 6, 1n],
    ['1', 18, 10n ** 18n],
    [999_999_999.999999, 6, 999_999_999_999_999n],
    ['123456789012345678.123456', 6, 123_456_789_012_345_678_123_456n],
    [7, 0, 7n],
  ])('%p with %d decimals is %d', (amount, decimals, units) => {
    expect(toUnits(amount, decimals)).toBe(units)
  })

  test.each([0, -0, -5, -0.1, NaN, Infinity, -Infinity, 1e21, 1e-7])('error: %p', (amount) => {
    refused(amount)
  })

  test.each([
    '',
    ' ',
    '0',
    '0.000000',
    '.5',
    '5.',
    '01',
    '+1',
    '-1',
    '1e3',
    '1_000',
    '1,5',
    '0x10',
  ])('error: the text %p', (text) => {
    refused(text)
  })

  test.each([' 1', '1 ', '1\n', '1.5.5', 'NaN', 'Infinity', '１', '٣', '1\0'])(
    'error: the text %j',
    (text) => {
      refused(text)
    },
  )

  test.each([
    [1e-7, 'amount must have at most 6 decimals.'],
    [1.5e-7, 'amount must have at most 6 decimals.'],
    ['0.0000001', 'amount must have at most 6 decimals.'],
    [1e30, 'amount must be sent as text when it has more than 15 digits.'],
    [1_234_567_890.123456, 'amount must be sent as text when it has more than 15 digits.'],
    ['1e30', 'amount must be written without an exponent.'],
    ['1E-7', 'amount must be written without an exponent.'],
    ['9'.repeat(80), 'amount is above the maximum of a token.'],
    [0, 'amount must be above zero.'],
    [-1, 'amount must be above zero.'],
    [-1e-7, 'amount must be above zero.'],
    ['0.00', 'amount must be above zero.'],
    ['1,5', 'amount must be plain decimal digits, such as 12.5.'],
    ['-', 'amount must be plain decimal digits, such as 12.5.'],
  ])('%p: %s', (amount, message) => {
    expect(messageOf(amount)).toBe(message)
  })

  test('error: more decimals than the token has', () => {
    refused(1.0000001)
    refused('1.0000000')
    refused('0.5', 0)
  })

  test('error: a JSON number with 16 digits, while the same digits as text are exact', () => {
    refused(1_000_000_000_000_000)
    refused(9_007_199_254_740_992)
    refused(1_234_567_890.123456)
    expect(toUnits('1234567890.123456', 6)).toBe(1_234_567_890_123_456n)
  })

  test('error: an amount above 2^256 - 1', () => {
    const most = 2n ** 256n - 1n
    expect(toUnits(most.toString(), 0)).toBe(most)
    refused((most + 1n).toString(), 0)
    refused('9'.repeat(80))
  })

  test('reads from a double of 15 digits exactly the written digits', () => {
    holds(
      fc.property(
        fc.integer({ min: 0, max: 8 }),
        fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }),
        (decimals, units) => {
          const number = Number(fromUnits(units, decimals))
          fc.pre(!String(number).includes('e'))
          expect(toUnits(number, decimals)).toBe(units)
        },
      ),
    )
  })

  test('returns units or throws, for any number', () => {
    holds(
      fc.property(fc.double(), (number) => {
        try {
          const units = toUnits(number, 6)
          expect(Number(fromUnits(units, 6))).toBe(number)
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_REQUEST' })
        }
      }),
    )
  })
})

describe('fromUnits', () => {
  test.each([
    [12_500_000n, 6, '12.5'],
    [1n, 6, '0.000001'],
    [-1n, 6, '-0.000001'],
    [-12_500_000n, 6, '-12.5'],
    [0n, 6, '0'],
    [10n ** 6n, 6, '1'],
    [10n ** 19n, 18, '10'],
    [70n, 0, '70'],
  ])('%d with %d decimals is %s', (units, decimals, text) => {
    expect(fromUnits(units, decimals)).toBe(text)
  })

  test('is the inverse of toUnits', () => {
    const units = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n })
    holds(
      fc.property(fc.integer({ min: 0, max: 30 }), units, (decimals, value) => {
        expect(toUnits(fromUnits(value, decimals), decimals)).toBe(value)
      }),
    )
  })
})

describe('largest and smallest', () => {
  test('compare amounts beyond the range of a double, in any position', () => {
    const amounts: [bigint, ...bigint[]][] = [
      [2n ** 64n, 2n ** 64n + 1n, -1n],
      [2n ** 64n + 1n, -1n, 2n ** 64n],
      [-1n, 2n ** 64n, 2n ** 64n + 1n],
    ]
    expect(amounts.map((some) => largest(...some))).toEqual(Array(3).fill(2n ** 64n + 1n))
    expect(amounts.map((some) => smallest(...some))).toEqual([-1n, -1n, -1n])
    expect([largest(7n), smallest(7n)]).toEqual([7n, 7n])
  })
})

describe('toUsd and sumUsd', () => {
  test.each([
    [250_500_001n, 6, 100_000_000n, 250.500001],
    [10n ** 16n + 1n, 18, 3_000n * 10n ** 8n, 30],
    [1n, 18, 3_000n * 10n ** 8n, 0],
    [0n, 6, 100_000_000n, 0],
    [5n, 0, 150_000_000n, 7.5],
  ])('%p units of %p decimals at %p are %p USD', (units, decimals, priceE8, usd) => {
    expect(toUsd(units, decimals, priceE8)).toBe(usd)
  })

  test('a sum has no float errors', () => {
    expect(sumUsd([0.1, 0.2, 0.000001])).toBe(0.300001)
    expect(sumUsd([])).toBe(0)
  })
})

describe('gasCostUsd', () => {
  test('multiplies wei by the price of the feed', () => {
    expect(gasCostUsd(10n ** 18n, 3_000n * 10n ** 8n)).toBe(3_000)
    expect(gasCostUsd(253_639n * 10n ** 9n, 3_000n * 10n ** 8n)).toBe(0.760917)
    expect(gasCostUsd(1n, 10n ** 8n)).toBe(0)
  })
})
