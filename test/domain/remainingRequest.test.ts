import { describe, expect, test } from 'vitest'
import { remainingRequest, type Failed } from '../../domain/intent/retry.js'
import { bridge, deposit, effect, planOf, swap, withdraw } from './plan/steps.js'
import type { IntentRequest } from '../../domain/intent/intent.js'

const usdc = 1_000_000n
const lend: IntentRequest = { action: 'lend', asset: 'USDC', amountUnits: usdc, netOverDays: 30 }
const moving: IntentRequest = {
  ...{ action: 'bridge', asset: 'USDC', amountUnits: usdc },
  ...{ fromChain: 'arbitrum', toChain: 'base' },
}
const taking = (amountUnits: bigint | 'max'): IntentRequest => ({
  ...{ action: 'withdraw', asset: 'USDC', amountUnits, chain: 'base' },
})
const refusal = (reason: string) =>
  expect.objectContaining({
    code: 'INVALID_REQUEST',
    details: { reason, issues: [{ path: 'intentId', message: expect.any(String) }] },
  }) as Error
const refused = (failed: Failed) => () => remainingRequest(failed)

describe('remainingRequest', () => {
  test.each([lend, moving, taking(usdc), taking('max')])('no plan: %o again', (request) => {
    expect(remainingRequest({ request, plan: null, effects: [] })).toEqual(request)
  })

  test.each([
    ['lend', lend, planOf(deposit(1, 'base'))],
    ['bridge', moving, planOf(bridge(1, 'arbitrum', 'base'))],
    ['withdraw', taking(usdc), planOf(withdraw(1, 'base'))],
  ])('no step of a %s was executed: the same request again', (_action, request, plan) => {
    expect(remainingRequest({ request, plan, effects: [] })).toEqual(request)
    const reverted = effect(1, request.action, 0n, { success: false })
    expect(remainingRequest({ request, plan, effects: [reverted] })).toEqual(request)
  })
})

describe('remainingRequest: lend', () => {
  const plan = planOf(bridge(1, 'arbitrum', 'base'), deposit(2, 'base'))
  const burned = effect(1, 'bridge', usdc)

  test('after the bridge: the arrived amount, on its chain', () => {
    const effects = [burned, effect(1, 'mint', 999_850n)]
    expect(remainingRequest({ request: lend, plan, effects })).toEqual({
      ...{ action: 'lend', asset: 'USDC', amountUnits: 999_850n, chain: 'base' },
    })
  })

  test('error: nothing_left when the deposit has succeeded after all', () => {
    const minted = [burned, effect(1, 'mint', 999_850n), effect(2, 'deposit', 999_850n)]
    expect(refused({ request: lend, plan, effects: minted })).toThrow(refusal('nothing_left'))
    const alone = { plan: planOf(deposit(1, 'base')), effects: [effect(1, 'deposit', usdc)] }
    expect(refused({ request: lend, ...alone })).toThrow(refusal('nothing_left'))
  })

  test('after the swap: its output, in its asset', () => {
    const swapped = planOf(swap(1, 'ethereum'), deposit(2, 'ethereum', { asset: 'TUSD' }))
    const effects = [effect(1, 'swap', 999_400n)]
    expect(remainingRequest({ request: lend, plan: swapped, effects })).toEqual({
      ...{ action: 'lend', asset: 'TUSD', amountUnits: 999_400n, chain: 'ethereum' },
    })
  })

  test('after bridge and swap: the output of the swap', () => {
    const both = planOf(
      bridge(1, 'arbitrum', 'ethereum'),
      swap(2, 'ethereum'),
      deposit(3, 'ethereum'),
    )
    const effects = [burned, effect(1, 'mint', 999_900n), effect(2, 'swap', 999_000n)]
    expect(remainingRequest({ request: lend, plan: both, effects })).toMatchObject({
      ...{ asset: 'TUSD', amountUnits: 999_000n, chain: 'ethereum' },
    })
  })

  test('error: funds_in_bridge while burned money is not minted', () => {
    expect(refused({ request: lend, plan, effects: [burned] })).toThrow(refusal('funds_in_bridge'))
  })

  test('error: funds_in_bridge also while burn or mint is unconfirmed', () => {
    const mined = effect(1, 'mint', 999_850n, { confirmed: false })
    const early = effect(1, 'bridge', usdc, { confirmed: false })
    for (const effects of [[burned, mined], [early]]) {
      expect(refused({ request: lend, plan, effects })).toThrow(refusal('funds_in_bridge'))
    }
  })
})

describe('remainingRequest: bridge', () => {
  const plan = planOf(bridge(1, 'arbitrum', 'base'))
  const burned = effect(1, 'bridge', usdc)

  test('error: nothing_left when the money has arrived', () => {
    const effects = [burned, effect(1, 'mint', 999_900n)]
    expect(refused({ request: moving, plan, effects })).toThrow(refusal('nothing_left'))
  })

  test('error: funds_in_bridge before', () => {
    expect(refused({ request: moving, plan, effects: [burned] })).toThrow(
      refusal('funds_in_bridge'),
    )
  })
})

describe('remainingRequest: withdraw', () => {
  const plan = planOf(withdraw(1, 'base', { amount: '2' }), withdraw(2, 'base'))

  test('an amount: less what was withdrawn', () => {
    const effects = [effect(1, 'withdraw', 2_000_000n)]
    expect(remainingRequest({ request: taking(3n * usdc), plan, effects })).toEqual(taking(usdc))
  })

  test('everything: everything again', () => {
    const effects = [effect(1, 'withdraw', 2_000_000n)]
    expect(remainingRequest({ request: taking('max'), plan, effects })).toEqual(taking('max'))
  })

  test('error: nothing_left of everything when all was withdrawn', () => {
    const effects = [effect(1, 'withdraw', 2_000_000n), effect(2, 'withdraw', usdc)]
    expect(refused({ request: taking('max'), plan, effects })).toThrow(refusal('nothing_left'))
  })

  test('another dollar token counts once it is swapped', () => {
    const swapped = planOf(
      withdraw(1, 'base', { asset: 'TUSD' }),
      swap(2, 'base', { asset: 'TUSD', toAsset: 'USDC' }),
      withdraw(3, 'base'),
    )
    const effects = [effect(1, 'withdraw', usdc), effect(2, 'swap', 999_000n)]
    expect(remainingRequest({ request: taking(2n * usdc), plan: swapped, effects })).toEqual(
      taking(1_001_000n),
    )
  })

  test('error: nothing_left when all was withdrawn', () => {
    const effects = [effect(1, 'withdraw', 2n * usdc), effect(2, 'withdraw', usdc)]
    const request = taking(3n * usdc)
    expect(refused({ request, plan, effects })).toThrow(refusal('nothing_left'))
  })
})
