import { describe, expect, test } from 'vitest'
import { currentFunds, locateFunds } from '../../domain/intent/funds.js'
import { bridge, deposit, effect, planOf, swap, withdraw } from './plan/steps.js'
import type { StepPlan } from '../../domain/intent/intent.js'
import type { Effect } from '../../domain/intent/results.js'

const locate = (plan: StepPlan, sequence: number, effects: Effect[] = []) => {
  const failed = plan.steps[sequence - 1]
  if (!failed) throw new Error('There is no such step.')
  return locateFunds(plan, failed, effects)
}
const inWallet = (chain: string, amount: string, asset = 'USDC') => ({ chain, asset, amount })

describe('locateFunds: the first step failed', () => {
  test.each([
    ['deposit', planOf(deposit(1, 'base', { amount: '2.5' })), inWallet('base', '2.5')],
    ['swap', planOf(swap(1, 'base')), inWallet('base', '1')],
    ['bridge', planOf(bridge(1, 'arbitrum', 'base')), inWallet('arbitrum', '1')],
  ])('%s: the money is in the wallet, at its source', (_type, plan, funds) => {
    expect(locate(plan, 1)).toEqual([funds])
  })

  test('withdraw: the money is in its market', () => {
    const plan = planOf(withdraw(1, 'base', { amount: '7' }))
    expect(locate(plan, 1)).toEqual([{ ...inWallet('base', '7'), protocol: 'aave-v3' }])
  })
})

describe('locateFunds: bridge', () => {
  const plan = planOf(bridge(1, 'arbitrum', 'base'), deposit(2, 'base', { amount: '0.9999' }))
  const burned = effect(1, 'bridge', 1_000_000n)

  test('burned and not minted: the money is in the bridge', () => {
    expect(locate(plan, 1, [burned])).toEqual([inWallet('bridge', '1')])
    const less = effect(1, 'bridge', 400_000n)
    expect(locate(plan, 1, [less])).toEqual([inWallet('bridge', '0.4')])
  })

  test.each([
    ['not confirmed', { confirmed: false }],
    ['reverted', { success: false }],
  ])('a burn that is %s: the money is at the source', (_what, changes) => {
    expect(locate(plan, 1, [{ ...burned, ...changes }])).toEqual([inWallet('arbitrum', '1')])
  })

  test('the deposit after it failed: the arrived money is in the wallet on that chain', () => {
    const effects = [burned, effect(1, 'mint', 999_850n)]
    expect(locate(plan, 2, effects)).toEqual([inWallet('base', '0.99985')])
  })
})

describe('locateFunds: several steps', () => {
  test('a deposit after a swap: the output of the swap, in its asset', () => {
    const plan = planOf(swap(1, 'ethereum'), deposit(2, 'ethereum', { asset: 'TUSD' }))
    const effects = [effect(1, 'swap', 999_123n)]
    expect(locate(plan, 2, effects)).toEqual([inWallet('ethereum', '0.999123', 'TUSD')])
  })

  test('a swap after a withdrawal: the withdrawn money, not swapped', () => {
    const plan = planOf(
      withdraw(1, 'ethereum', { asset: 'TUSD' }),
      swap(2, 'ethereum', { asset: 'TUSD', toAsset: 'USDC' }),
    )
    const effects = [effect(1, 'withdraw', 999_999n)]
    expect(locate(plan, 2, effects)).toEqual([inWallet('ethereum', '0.999999', 'TUSD')])
  })

  test('the second of two withdrawals: one amount is in the wallet, the other in its market', () => {
    const plan = planOf(
      withdraw(1, 'base', { amount: '2' }),
      withdraw(2, 'base', { amount: '3', protocol: 'erc4626' }),
    )
    const effects = [effect(1, 'withdraw', 2_000_000n)]
    expect(locate(plan, 2, effects)).toEqual([
      inWallet('base', '2'),
      { ...inWallet('base', '3'), protocol: 'erc4626' },
    ])
  })

  test('the forecast output of a later step is nowhere', () => {
    const plan = planOf(withdraw(1, 'base'), withdraw(2, 'base'))
    expect(locate(plan, 1)).toHaveLength(1)
  })
})

describe('currentFunds', () => {
  const plan = planOf(bridge(1, 'arbitrum', 'base'), deposit(2, 'base', { amount: '0.9999' }))
  const burned = effect(1, 'bridge', 1_000_000n)
  const minted = effect(1, 'mint', 999_850n)
  const lent = effect(2, 'deposit', 999_850n)

  test.each([
    ['no step was executed', [], inWallet('arbitrum', '1')],
    ['the money is burned', [burned], inWallet('bridge', '1')],
    ['the burn is not confirmed', [{ ...burned, confirmed: false }], inWallet('arbitrum', '1')],
    ['the money has arrived', [burned, minted], inWallet('base', '0.99985')],
    ['a reorg removed the burn, not the mint', [minted], inWallet('base', '0.99985')],
    [
      'the deposit failed',
      [burned, minted, { ...lent, success: false }],
      inWallet('base', '0.99985'),
    ],
    [
      'the money is lent',
      [burned, minted, lent],
      { ...inWallet('base', '0.99985'), protocol: 'aave-v3' },
    ],
  ])('%s', (_what, effects, funds) => {
    expect(currentFunds(plan, effects)).toEqual([funds])
  })

  test('several withdrawals: withdrawn money is in the wallet, the rest in its market', () => {
    const both = planOf(withdraw(1, 'base'), withdraw(2, 'base', { protocol: 'erc4626' }))
    expect(currentFunds(both, [effect(1, 'withdraw', 1_000_001n)])).toEqual([
      inWallet('base', '1.000001'),
      { ...inWallet('base', '1'), protocol: 'erc4626' },
    ])
  })
})
