import { describe, expect, test } from 'vitest'
import { remainingRequest } from '../../domain/intent/retry.js'
import { units } from './plan/markets.js'
import type { StepPlan, IntentRequest, PlanStep } from '../../domain/intent/intent.js'
import type { Effect } from '../../domain/intent/results.js'

const any = { sequence: 0, asset: 'USDC', amount: '10', protocol: 'p' }
const bridge: PlanStep = {
  ...{ ...any, type: 'bridge', from: 'arbitrum', to: 'base' },
  ...{ speed: 'fast', maxFee: '0.01', arrives: '9.999' },
}
const swap: PlanStep = {
  ...{ ...any, type: 'swap', chain: 'base', toAsset: 'DAI', arrives: '9.99', minimum: '9.9' },
}
const swapBack: PlanStep = { ...swap, asset: 'DAI', toAsset: 'USDC' }
const deposit: PlanStep = { ...any, type: 'deposit', chain: 'base', market: '0xm' }
const withdraw: PlanStep = { ...any, type: 'withdraw', chain: 'base', market: '0xm' }
const withdrawDai: PlanStep = { ...withdraw, asset: 'DAI' }

const planOf = (...steps: PlanStep[]): StepPlan => ({
  ...{ strategy: 'single-bridge', targetChain: 'base', estimatedGasUsd: 1 },
  ...{ estimatedTime: '1-5 seconds', reasoning: '' },
  steps: steps.map((step, i) => ({ ...step, sequence: i + 1 })),
})
const done = (sequence: number, kind: string, amount: string): Effect => ({
  ...{ sequence, kind, chain: 'base', confirmed: true, success: true },
  ...{ txHash: '0x', gasUsed: 1n, gasCostUsd: 0.1, units: units(amount) },
})
const failed = (sequence: number, kind: string): Effect => ({
  ...done(sequence, kind, '0'),
  success: false,
})

const lend = { action: 'lend', asset: 'USDC', amountUnits: units('10'), netOverDays: 30 } as const
const takeBack = (amountUnits: bigint | 'max') =>
  ({ action: 'withdraw', asset: 'USDC', amountUnits, chain: 'base' }) as const
const move = {
  ...({ action: 'bridge', asset: 'USDC', amountUnits: units('10') } as const),
  ...{ fromChain: 'arbitrum', toChain: 'base' },
}

const remaining = (request: IntentRequest, plan: StepPlan | null, ...effects: Effect[]) =>
  remainingRequest({ request, plan, effects })
const refusal = (reason: string) =>
  expect.objectContaining({
    code: 'INVALID_REQUEST',
    details: expect.objectContaining({ reason }) as unknown,
  }) as Error

describe('remainingRequest', () => {
  test('no step was executed: the original request', () => {
    expect(remaining(lend, null)).toEqual(lend)
    expect(remaining(lend, planOf(bridge, deposit))).toEqual(lend)
    expect(remaining(lend, planOf(bridge, deposit), failed(1, 'bridge'))).toEqual(lend)
    expect(remaining(takeBack('max'), planOf(withdraw))).toEqual(takeBack('max'))
  })

  test('a lend that crossed the bridge: the arrived amount, on its chain', () => {
    const effects = [done(1, 'bridge', '10'), done(1, 'mint', '9.998')]
    const rest = { action: 'lend', asset: 'USDC', amountUnits: units('9.998'), chain: 'base' }
    expect(remaining(lend, planOf(bridge, deposit), ...effects, failed(2, 'deposit'))).toEqual(rest)
    const swapped = [...effects, done(2, 'swap', '9.98')]
    const inDai = { ...rest, asset: 'DAI', amountUnits: units('9.98') }
    expect(remaining(lend, planOf(bridge, swap, deposit), ...swapped)).toEqual(inDai)
  })

  test('error: funds_in_bridge while burned money has not arrived', () => {
    const burned = done(1, 'bridge', '10')
    for (const request of [lend, move]) {
      expect(() => remaining(request, planOf(bridge, deposit), burned)).toThrow(
        refusal('funds_in_bridge'),
      )
    }
  })

  test('error: nothing_left of a bridge whose money has arrived', () => {
    const effects = [done(1, 'bridge', '10'), done(1, 'mint', '9.998')]
    expect(() => remaining(move, planOf(bridge), ...effects)).toThrow(refusal('nothing_left'))
  })

  test('a withdrawal: the remaining amount of its markets', () => {
    const plan = planOf(withdraw, withdraw)
    const effects = [done(1, 'withdraw', '6'), failed(2, 'withdraw')]
    expect(remaining(takeBack(units('10')), plan, ...effects)).toEqual(takeBack(units('4')))
    expect(remaining(takeBack('max'), plan, ...effects)).toEqual(takeBack('max'))
    const all = [done(1, 'withdraw', '6'), done(2, 'withdraw', '4')]
    expect(() => remaining(takeBack(units('10')), plan, ...all)).toThrow(refusal('nothing_left'))
  })

  test('a withdrawal whose swap failed: includes the amount to swap', () => {
    const plan = planOf(withdraw, withdrawDai, swapBack)
    const effects = [done(1, 'withdraw', '6'), done(2, 'withdraw', '4.1')]
    const unswapped = { asset: 'DAI', units: units('4.1') }
    expect(remaining(takeBack(units('10')), plan, ...effects, failed(3, 'swap'))).toEqual({
      ...takeBack(units('4')),
      unswapped,
    })
    expect(remaining(takeBack('max'), plan, ...effects)).toEqual({ ...takeBack('max'), unswapped })
  })

  test('a retry that failed too: the same amount to swap, from its plan', () => {
    const plan = planOf({ ...swapBack, amount: '4.1' })
    expect(remaining(takeBack('max'), plan, failed(1, 'swap'))).toEqual({
      ...takeBack('max'),
      unswapped: { asset: 'DAI', units: units('4.1') },
    })
    const more = planOf({ ...swapBack, amount: '4.1' }, withdrawDai, swapBack)
    const effects = [failed(1, 'swap'), done(2, 'withdraw', '2')]
    expect(remaining(takeBack('max'), more, ...effects)).toMatchObject({
      unswapped: { asset: 'DAI', units: units('6.1') },
    })
  })
})
