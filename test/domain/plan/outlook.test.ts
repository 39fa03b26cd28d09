import { describe, expect, test } from 'vitest'
import { planIntent } from '../../../domain/plan/planIntent.js'
import { chainOf, positionOf, quoteOf, rateOf, routeOf, stateOf, units } from './markets.js'
import type { LendRequest } from '../../../domain/intent/intent.js'

const lend = (amount: string, changes: Partial<LendRequest> = {}): LendRequest => ({
  ...{ action: 'lend', asset: 'USDC', amountUnits: units(amount) },
  ...changes,
})
const moving = stateOf({
  chains: [chainOf('base', '1000'), chainOf('arbitrum', '0')],
  rates: [rateOf('base', 3), rateOf('arbitrum', 5)],
  routes: [routeOf('base', 'arbitrum')],
})
const codesOf = (plan: { warnings?: { code: string }[] }) =>
  (plan.warnings ?? []).map(({ code }) => code)

describe('warnings of a plan', () => {
  test('absent when there is nothing to warn about', () => {
    expect(planIntent(lend('100'), moving)).not.toHaveProperty('warnings')
  })

  // Over the bridge the move costs 0.24 USD of gas and one basis point more, and earns 2 % a year more.
  test.each([
    ['12', ['NOT_WORTH_IT']],
    ['13', []],
  ])('NOT_WORTH_IT: of %s USDC: %j', (amount, codes) => {
    const plan = planIntent(lend(amount), moving)
    expect([plan.targetChain, codesOf(plan)]).toEqual(['arbitrum', codes])
  })

  test('NOT_WORTH_IT also without a move: a year does not pay for the gas', () => {
    const only = stateOf({ chains: [chainOf('base', '1')], rates: [rateOf('base', 3)] })
    expect(planIntent(lend('0.3'), only).warnings).toEqual([
      { code: 'NOT_WORTH_IT', message: 'The costs exceed the interest of a year by 0.001 USD.' },
    ])
    expect(planIntent(lend('0.4'), only)).not.toHaveProperty('warnings')
  })

  test('COSTS_UNKNOWN while the price of ETH is: no figure of the plan counts gas', () => {
    const chains = moving.chains.map((one) => ({ ...one, gasUsd: undefined }))
    const plan = planIntent(lend('12'), { ...moving, chains })
    expect(plan).toMatchObject({ targetChain: 'arbitrum', estimatedGasUsd: null })
    expect(plan.warnings).toEqual([
      { code: 'COSTS_UNKNOWN', message: 'The price of ETH is unknown, so gas is not counted.' },
    ])
    expect(plan.reasoning).toContain('and gas of unknown cost. Whether the move pays for itself')
    expect(plan.alternatives).toHaveLength(1)
    expect(plan.alternatives?.[0]).not.toHaveProperty('netUsd')
    const bridge = { action: 'bridge', asset: 'USDC', amountUnits: units('1') } as const
    const moved = planIntent(
      { ...bridge, fromChain: 'base', toChain: 'arbitrum' },
      { ...moving, chains },
    )
    expect([moved.estimatedGasUsd, codesOf(moved)]).toEqual([null, ['COSTS_UNKNOWN']])
    const positions = [positionOf('base', '50')]
    const withdrawal = { action: 'withdraw', asset: 'USDC', amountUnits: 'max' } as const
    const taken = planIntent({ ...withdrawal, chain: 'base' }, { ...moving, chains, positions })
    expect([taken.estimatedGasUsd, codesOf(taken)]).toEqual([null, ['COSTS_UNKNOWN']])
  })

  test('ASSET_CHANGES: of a lend and of a withdrawal', () => {
    const swaps = [
      quoteOf('base', 'USDC', 'DAI', [100n, 100n]),
      quoteOf('base', 'DAI', 'USDC', [100n, 100n]),
    ]
    const rates = [rateOf('base', 4, { asset: 'DAI', market: '0xdai' })]
    const positions = [positionOf('base', '50', { asset: 'DAI', market: '0xdai' })]
    const state = stateOf({ chains: [chainOf('base', '100')], rates, swaps, positions })
    const assetChanges = (from: string, to: string) => [
      { code: 'ASSET_CHANGES', message: `${from} is swapped to ${to} on the way.` },
    ]
    expect(planIntent(lend('10'), state).warnings).toEqual(assetChanges('USDC', 'DAI'))
    const out = { action: 'withdraw', asset: 'USDC', amountUnits: 'max', chain: 'base' } as const
    expect(planIntent(out, state).warnings).toEqual(assetChanges('DAI', 'USDC'))
  })

  test.each([
    ['90', []],
    ['90.000001', ['MARKET_NEARLY_FULL']],
  ])('MARKET_NEARLY_FULL: %s of a capacity of 100', (amount, codes) => {
    const rates = [rateOf('base', 3, { capacityUnits: units('100') })]
    const plan = planIntent(lend(amount), stateOf({ chains: [chainOf('base', '100')], rates }))
    expect(codesOf(plan)).toEqual(codes)
  })
})

describe('alternatives of a plan', () => {
  test('the return of a year after the cost of moving there, the best first', () => {
    const rates = [rateOf('base', 3), rateOf('arbitrum', 5), rateOf('ethereum', 9)]
    const plan = planIntent(lend('100'), { ...moving, rates })
    expect(plan.targetChain).toBe('arbitrum')
    expect(plan.alternatives).toEqual([
      {
        ...{ chain: 'base', protocol: 'aave-v3', asset: 'USDC', apy: 3 },
        ...{ netUsd: 2.99, why: 'It pays less, 3.00 %.' },
      },
      {
        ...{ chain: 'ethereum', protocol: 'aave-v3', asset: 'USDC', apy: 9 },
        why: 'Not now: there is no bridge from base to ethereum.',
      },
    ])
  })

  test('with netOverDays: how much less they are worth', () => {
    const [first] = planIntent(lend('100', { netOverDays: 46 }), moving).alternatives ?? []
    expect(first).toMatchObject({ chain: 'base', why: 'Worth 0.001991 USD less over 46 days.' })
  })

  test('of a request that names a chain: the better markets elsewhere', () => {
    const [first] = planIntent(lend('100', { chain: 'base' }), moving).alternatives ?? []
    expect(first).toMatchObject({ chain: 'arbitrum', apy: 5, why: 'The request names base.' })
    // 5 % of 99.99 USDC, less 0.25 USD of gas and 0.01 USD of fee.
    expect(first?.netUsd).toBe(4.7395)
  })

  test('at most five, reachable ones before the others', () => {
    const reachable = [1, 2, 3, 4].map((apy) => rateOf('base', apy, { market: `0x${apy}` }))
    const rates = [...reachable, ...[7, 8, 9].map((apy) => rateOf(`far ${apy}`, apy))]
    const plan = planIntent(lend('10'), stateOf({ chains: [chainOf('base', '10')], rates }))
    expect(plan.expectedApy).toBe(4)
    expect(plan.alternatives?.map(({ apy }) => apy)).toEqual([3, 2, 1, 9, 8])
  })

  test('absent without another market', () => {
    const only = stateOf({ chains: [chainOf('base', '10')], rates: [rateOf('base', 3)] })
    expect(planIntent(lend('10'), only)).not.toHaveProperty('alternatives')
  })
})
