import { describe, expect, test } from 'vitest'
import { bestRate, type Rate } from '../../domain/yields.js'

const rate = (chain: string, apyPercent: number): Rate => ({
  ...{ chain, apyPercent },
  ...{ protocol: 'aave-v3', market: '0x01', asset: 'USDC' },
})

describe('bestRate', () => {
  test('returns the highest, in any position', () => {
    const rates = [rate('a', 1), rate('b', 3), rate('c', 2)]
    expect(bestRate(rates)?.chain).toBe('b')
    expect(bestRate(rates.reverse())?.chain).toBe('b')
  })

  test('returns the first among equals', () => {
    expect(bestRate([rate('a', 2), rate('b', 2)])?.chain).toBe('a')
  })

  test('returns undefined without rates', () => {
    expect(bestRate([])).toBeUndefined()
  })
})
