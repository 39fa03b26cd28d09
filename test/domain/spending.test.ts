import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { defaultLimits } from '../../domain/limits.js'
import { plannedWithdrawal, type StepPlan, type IntentRequest } from '../../domain/intent/intent.js'
import { planIntent } from '../../domain/plan/planIntent.js'
import { matchesRequest, type Asked } from '../../domain/intent/spending.js'
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
  return matchesRequest(whole, planOf(...steps), defaultLimits)
}

describe('matchesRequest', () => {
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
      expect(matchesRequest(askedIn(request, plan), plan, defaultLimits)).toBe(true)
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
    expect(matchesRequest(askedIn(request, plan), plan, defaultLimits)).toBe(true)
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

  test('one base unit less than requested is too little, and a lend without its deposit', () => {
    expect(isFine({}, deposit(1, 'base', { amount: '0.999999' }))).toBe(false)
    const moved = bridge(1, 'base', 'arbitrum', { amount: '0.999999' })
    expect(isFine({ action: 'bridge' }, moved)).toBe(false)
    expect(isFine({}, bridge(1, 'base', 'arbitrum', { amount: '1' }))).toBe(false)
  })

  test('a partial withdrawal differs from its request by at most rounding dust', () => {
    const action = 'withdraw'
    for (const [amount, isMatch] of [
      ['1.00001', true],
      ['1.000011', false],
      ['0.99999', true],
      ['0.999989', false],
    ] as const) {
      expect(isFine({ action }, withdraw(1, 'base', { amount }))).toBe(isMatch)
      const emptying = withdraw(1, 'base', { amount, everything: true })
      expect(isFine({ action }, emptying)).toBe(isMatch)
    }
    const tiny = withdraw(1, 'base', { amount: '0.000501' })
    expect(isFine({ action, units: 500n }, tiny)).toBe(false)
  })

  test('a withdrawal over a swap guarantees nearly its request', () => {
    const taken = withdraw(1, 'base', { amount: '1' })
    const guaranteed = (minimum: string) =>
      isFine({ action: 'withdraw' }, taken, swap(2, 'base', { minimum }))
    expect(guaranteed('0.99')).toBe(true)
    expect(guaranteed('0.97')).toBe(false)
  })

  test('a withdrawal of everything empties each of its markets', () => {
    const all = { action: 'withdraw', everything: true } as const
    const emptied = withdraw(1, 'base', { amount: '900', everything: true })
    expect(isFine(all, emptied)).toBe(true)
    expect(isFine(all, emptied, withdraw(2, 'base', { amount: '0.000001' }))).toBe(false)
  })

  test('steps that the action does not use are rejected', () => {
    expect(isFine({}, withdraw(1, 'base'))).toBe(false)
    expect(isFine({ action: 'withdraw' }, bridge(1, 'base', 'arbitrum'))).toBe(false)
    expect(isFine({ action: 'bridge' }, deposit(1, 'base'))).toBe(false)
    const all = { action: 'withdraw', everything: true } as const
    expect(isFine(all, withdraw(1, 'base'), bridge(2, 'base', 'arbitrum'))).toBe(false)
  })
})
