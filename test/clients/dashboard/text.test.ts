import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import {
  amountText,
  centsText,
  percentText,
  sumText,
  usdText,
} from '../../../clients/dashboard/src/text/amount.js'
import {
  chainText,
  marketText,
  namesIn,
  protocolText,
} from '../../../clients/dashboard/src/text/names.js'
import { shorten } from '../../../clients/dashboard/src/text/shorten.js'
import { agoText, durationText } from '../../../clients/dashboard/src/text/time.js'

const EN = 'en'

describe('centsText', () => {
  test.each([
    ['1234.509', '1,234.50'],
    ['0.004', '< 0.01'],
    ['-0.004', '−< 0.01'],
    ['-1.239', '−1.23'],
    ['7', '7.00'],
    ['0', '0'],
    ['0.00', '0'],
  ])('cuts %s to %s', (amount, shown) => {
    expect(centsText(amount, EN)).toBe(shown)
  })
})

describe('amountText', () => {
  test.each([
    ['0', '0'],
    ['1', '1'],
    ['0.9999', '0.9999'],
    ['1234567.5', '1,234,567.5'],
    ['-0.25', '−0.25'],
    ['0.123456', '0.123456'],
    ['123456789012345678901.000001', '123,456,789,012,345,678,901.000001'],
  ])('shows all digits of %s as %s', (amount, shown) => {
    expect(amountText(amount, EN)).toBe(shown)
  })

  test('marks cut decimals and never rounds', () => {
    expect(amountText('0.9999999', EN)).toBe('0.999999…')
    expect(amountText('0.1234560', EN)).toBe('0.123456')
  })

  test('formats JSON numbers without an exponent', () => {
    expect(amountText(1e-7, EN)).toBe('0.000000…')
    expect(amountText(12.5, EN)).toBe('12.5')
  })

  test('uses the separators of the locale', () => {
    expect(amountText('1234.5', 'de')).toBe('1.234,5')
  })
})

describe('usdText', () => {
  test.each([
    [0, '$0.00'],
    [0.0001, '< $0.01'],
    [0.01, '$0.01'],
    [1234.5, '$1,234.50'],
    [-3, '−$3.00'],
  ])('shows %d as %s', (usd, shown) => {
    expect(usdText(usd, EN)).toBe(shown)
  })
})

test('percentText: two decimals', () => {
  expect(percentText(4.1178, EN)).toBe('4.12 %')
})

describe('sumText', () => {
  test('sums exactly', () => {
    expect(sumText(['0.1', '0.2'])).toBe('0.3')
    expect(sumText([])).toBe('0')
    expect(sumText(['5', '-7.5'])).toBe('-2.5')
  })

  test('matches integer addition for random amounts', () => {
    const amounts = fc.array(fc.bigInt({ min: 0n, max: 10n ** 24n }))
    fc.assert(
      fc.property(amounts, (units) => {
        const texts = units.map(
          (unit) => `${unit / 10n ** 6n}.${String(unit % 10n ** 6n).padStart(6, '0')}`,
        )
        const sum = units.reduce((a, b) => a + b, 0n)
        const [whole = '', fraction = ''] = sumText(texts).split('.')
        expect(BigInt(whole + fraction.padEnd(6, '0'))).toBe(sum)
      }),
    )
  })
})

describe('durationText', () => {
  test.each([
    [-5, '0 ms'],
    [240, '240 ms'],
    [2_540, '2.5 s'],
    [9_990, '9.9 s'],
    [48_900, '48 s'],
    [180_000, '3 min'],
    [7_500_000, '2 h 5 min'],
    [7_200_000, '2 h'],
    [273_600_000, '3 d 4 h'],
  ])('%d ms is %s', (ms, shown) => {
    expect(durationText(ms)).toBe(shown)
  })
})

describe('agoText', () => {
  const now = new Date('2026-11-22T12:00:00Z')
  const before = (seconds: number) => new Date(now.getTime() - seconds * 1_000)

  test.each([
    [2, 'now'],
    [12, '12 s ago'],
    [3_700, '1 h ago'],
    [-10_900, 'in 3 h'],
    [-14, 'now'],
    [-16, 'in 16 s'],
    [-86_399, 'in 24 h'],
    [-86_400 * 3 + 1, 'in 3 d'],
    [-86_400 * 7 + 1, 'in 7 d'],
    [-86_400 * 30, '22 Dec'],
    [86_400 * 6, '6 d ago'],
    [86_400 * 10, '12 Nov'],
    [86_400 * 400, '18 Oct 2025'],
  ])('%d s before: %s', (seconds, shown) => {
    expect(agoText(before(seconds), now, 'en-GB')).toBe(shown)
  })
})

describe('shorten', () => {
  test.each([
    ['intent_01m7y67v14e52t225qv2zm6kz4', 'intent_01m7…6kz4'],
    ['svc_wallet_01m7y67meyf8887pvj8zyn62fz', 'svc_wallet_01m7…62fz'],
    ['0x69ea9668481236855282F21d38F1d078064EF099', '0x69ea…F099'],
    ['alice', 'alice'],
  ])('%s as %s', (id, shown) => {
    expect(shorten(id)).toBe(shown)
  })
})

test('chainText and protocolText: unknown names stay unchanged', () => {
  expect(chainText('arbitrum-sepolia')).toBe('Arbitrum Sepolia')
  expect(chainText('optimism')).toBe('optimism')
  expect(protocolText('aave-v3')).toBe('Aave v3')
  expect(protocolText('morpho')).toBe('morpho')
})

test('marketText: the protocol on the chain, and the chain alone without a protocol', () => {
  expect(marketText({ protocol: 'aave-v3', chain: 'base-sepolia' })).toBe('Aave v3 on Base Sepolia')
  expect(marketText({ chain: 'arbitrum-sepolia' })).toBe('Arbitrum Sepolia')
  expect(marketText({ protocol: 'morpho', chain: 'optimism' })).toBe('morpho on optimism')
})

describe('namesIn', () => {
  test('names the chains and protocols of a sentence', () => {
    expect(
      namesIn(
        'aave-v3 on base-sepolia pays 4.12 %. The money comes from arbitrum-sepolia. ' +
          'Next comes erc4626 on ethereum-sepolia: it pays less, 3.70 %.',
      ),
    ).toBe(
      'Aave v3 on Base Sepolia pays 4.12 %. The money comes from Arbitrum Sepolia. ' +
        'Next comes ERC-4626 vault on Ethereum Sepolia: it pays less, 3.70 %.',
    )
  })

  test.each([
    'One base unit is missing.',
    'Send a read-only key to https://base-sepolia.example.com/aave-v3.',
    'The chain optimism-sepolia is unknown.',
  ])('keeps other words: %s', (sentence) => {
    expect(namesIn(sentence)).toBe(sentence)
  })
})
