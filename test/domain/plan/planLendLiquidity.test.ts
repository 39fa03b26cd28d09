import { describe, expect, test } from 'vitest'
import { defaultLimits } from '../../../domain/limits.js'
import { planIntent } from '../../../domain/plan/planIntent.js'
import { chainOf, failureOf, rateOf, stateOf, units } from './markets.js'
import type { LendRequest } from '../../../domain/intent/intent.js'
import type { Rate } from '../../../domain/yields.js'

const lend = (amount: string, changes: Partial<LendRequest> = {}): LendRequest => ({
  ...{ action: 'lend', asset: 'USDC', amountUnits: units(amount) },
  ...changes,
})
/** The market with the best rate, with its deposits and its cash. */
const best = (supplied: string, cash: string): Rate =>
  rateOf('base', 9, {
    market: '0xbest',
    liquidity: { suppliedUnits: units(supplied), cashUnits: units(cash) },
  })
const stateWith = (...rates: Rate[]) => stateOf({ chains: [chainOf('base', '100')], rates })
const other = rateOf('base', 3, { market: '0xother' })
const marketOf = (state: ReturnType<typeof stateWith>, request = lend('10')) =>
  planIntent(request, state).steps.at(-1)

describe('planIntent, lend: into a run', () => {
  test.each([
    ['98 % borrowed', best('10000', '200'), '0xbest'],
    ['more than 98 % borrowed', best('10000', '199.99'), '0xother'],
    ['ten times the deposit in cash', best('1000', '100'), '0xbest'],
    ['a base unit less cash', best('1000', '99.999999'), '0xother'],
    ['no deposits', best('0', '0'), '0xother'],
  ])('a market with %s', (_, rate, market) => {
    expect(marketOf(stateWith(rate, other))).toMatchObject({ type: 'deposit', market })
  })

  test('the reasoning and the alternatives name the cause', () => {
    const plan = planIntent(lend('10'), stateWith(best('10000', '100'), other))
    const why = '99.00 % of its deposits are borrowed'
    expect(plan.reasoning).toContain(`aave-v3 on base pays more, 9.00 %, but ${why}.`)
    expect(plan.alternatives).toMatchObject([{ apy: 9, why: `Not now: ${why}.` }])
    expect(plan.alternatives?.[0]).not.toHaveProperty('netUsd')
    expect(plan).not.toHaveProperty('warnings')
  })

  test('error: INVALID_REQUEST with the cause when no market is left', () => {
    const { code, message } = failureOf(lend('10'), stateWith(best('100', '50')))
    expect(code).toBe('INVALID_REQUEST')
    expect(message).toBe('The amount cannot be lent on base: it has only 50 USDC of cash.')
  })

  test('a named chain without another market gets a warning', () => {
    const named = lend('10', { chain: 'base' })
    const run = best('10000', '100')
    const plan = planIntent(named, stateWith(run))
    expect(plan.steps).toMatchObject([{ type: 'deposit', market: '0xbest' }])
    expect(plan.warnings).toContainEqual({
      code: 'LOW_LIQUIDITY',
      message:
        'The deposit may not be withdrawable from aave-v3 on base: 99.00 % of its deposits are borrowed.',
    })
    expect(marketOf(stateWith(run, other), named)).toMatchObject({ market: '0xother' })
  })

  test('uses the limits of the deployment', () => {
    const tight = { ...stateWith(best('1000', '100'), other) }
    const limits = { ...defaultLimits, utilizationBps: 8_999n }
    expect(marketOf({ ...tight, limits })).toMatchObject({ market: '0xother' })
    const more = { ...defaultLimits, cashTimes: 11n }
    expect(marketOf({ ...tight, limits: more })).toMatchObject({ market: '0xother' })
  })
})
