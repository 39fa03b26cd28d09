import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { defaultLimits } from '../../domain/limits.js'
import { plannedWithdrawal, type StepPlan, type IntentRequest } from '../../domain/intent/intent.js'
import { planIntent } from '../../domain/plan/planIntent.js'
import { isWithinRequest, type Asked } from '../../domain/intent/spending.js'
import { anyBridge, anyLend, anyWithdraw, type Case } from './plan/anyMarket.js'
import { holds } from './plan/holds.js'
import { chainOf, positionOf, quoteOf, stateOf, units } from './plan/markets.js'
import { bridge, deposit, planOf, swap, withdraw } from './plan/steps.js'

const askedIn = ({ action, amountUnits }: IntentRequest, plan: StepPlan): Asked => {
  const everything = amountUnits === 'max'
  return { action, everything, units: everything ? plannedWithdrawal(plan) : amountUnits }
}
const isFine = (asked: Partial<Asked>, ...steps: Parameters<typeof planOf>) => {
  const whole = { action: 'lend', units: 1_000_000n, everything: false, ...asked } as const
  return isWithinRequest(whole, planOf(...steps), defaultLimits)
}

describe('isWithinRequest', () => {
  test.each([
    ['lend', anyLend],
    ['withdraw', anyWithdraw],
    ['bridge', anyBridge],
  ] as [string, fc.Arbitrary<Case>][])('holds for any plan: %s', (_, cases) => {
    let planned = 0
    const property = fc.property(cases, ({ request, state }) => {
      let plan: StepPlan
      try {
        plan = planIntent(request, state)
      } catch {
        return
      }
      planned += 1
      expect(isWithinRequest(askedIn(request, plan), plan, defaultLimits)).toBe(true)
    })
    holds(property, 2_000)
    expect(planned).toBeGreaterThan(300)
  })

  test.each([
    ['more than was withdrawn', '10.06'],
    ['the whole amount', '10'],
    ['a part of the amount', '4'],
  ])('holds for the retry of a withdrawal with %s to swap', (_, held) => {
    const request: IntentRequest = {
      ...{ action: 'withdraw', asset: 'USDC', chain: 'base', amountUnits: units('10') },
      unswapped: { asset: 'DAI', units: units(held) },
    }
    const state = stateOf({
      chains: [chainOf('base', '0')],
      swaps: [quoteOf('base', 'DAI', 'USDC', [1_000n, 995n])],
      positions: [positionOf('base', '20')],
    })
    const plan = planIntent(request, state)
    expect(isWithinRequest(askedIn(request, plan), plan, defaultLimits)).toBe(true)
  })

  test('one base unit more than requested is too much, also in two steps', () => {
    expect(isFine({}, deposit(1, 'base', { amount: '1' }))).toBe(true)
    expect(isFine({}, deposit(1, 'base', { amount: '1.000001' }))).toBe(false)
    const half = { amount: '0.500001' }
    expect(isFine({}, deposit(1, 'base', half), deposit(2, 'base', half))).toBe(false)
    const moved = bridge(1, 'base', 'arbitrum', { amount: '1.000001' })
    expect(isFine({ action: 'bridge' }, moved)).toBe(false)
  })

  test('the output of an earlier step is not counted twice', () => {
    const moved = bridge(1, 'base', 'arbitrum', { amount: '1' })
    expect(isFine({}, moved, swap(2, 'arbitrum'), deposit(3, 'arbitrum'))).toBe(true)
  })

  test('a partial withdrawal includes at most dust in addition', () => {
    const action = 'withdraw'
    expect(isFine({ action }, withdraw(1, 'base', { amount: '1.00001' }))).toBe(true)
    expect(isFine({ action }, withdraw(1, 'base', { amount: '1.000011' }))).toBe(false)
    const everything = { everything: true } as const
    expect(isFine({ action }, withdraw(1, 'base', { amount: '1.01', ...everything }))).toBe(true)
    expect(isFine({ action }, withdraw(1, 'base', { amount: '1.03', ...everything }))).toBe(false)
    const all = { action, everything: true } as const
    expect(isFine(all, withdraw(1, 'base', { amount: '900', ...everything }))).toBe(true)
  })

  test('steps that the action does not use are rejected', () => {
    expect(isFine({}, withdraw(1, 'base'))).toBe(false)
    expect(isFine({ action: 'withdraw' }, bridge(1, 'base', 'arbitrum'))).toBe(false)
    expect(isFine({ action: 'bridge' }, deposit(1, 'base'))).toBe(false)
    const all = { action: 'withdraw', everything: true } as const
    expect(isFine(all, withdraw(1, 'base'), bridge(2, 'base', 'arbitrum'))).toBe(false)
  })
})
