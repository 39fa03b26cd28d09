import { describe, expect, test } from 'vitest'
import { nearestName } from '../../../api/http/nearest.js'

describe('nearestName', () => {
  const names = ['walletId', 'action', 'amount', 'asset', 'chain', 'metadata']

  test.each([
    ['walletID', 'walletId'],
    ['wallet_id', 'walletId'],
    ['Wallet-Id', 'walletId'],
    ['walletd', 'walletId'],
    ['actoin', 'action'],
    ['amuont', 'amount'],
    ['chian', 'chain'],
    ['meta', undefined],
    ['colour', undefined],
    ['', undefined],
    ['w'.repeat(10_000), undefined],
  ])('%s: %s', (typed, meant) => {
    expect(nearestName(typed, names)).toBe(meant)
  })

  test('of two similar names the nearer one', () => {
    expect(nearestName('chains', ['chain', 'chained'])).toBe('chain')
  })
})
