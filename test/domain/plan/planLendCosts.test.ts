import { describe, expect, test } from 'vitest'
import { defaultLimits } from '../../../domain/limits.js'
import { planIntent } from '../../../domain/plan/planIntent.js'
import {
  chainOf,
  failureOf,
  poolOf,
  quoteOf,
  rateOf,
  routeOf,
  stateOf,
  units,
  usualGasUsd,
} from './markets.js'
import type { LendRequest } from '../../../domain/intent/intent.js'

const lend = (amount: string, changes: Partial<LendRequest> = {}): LendRequest => ({
  ...{ action: 'lend', asset: 'USDC', amountUnits: units(amount) },
  ...changes,
})
const dai = (chain: string, apy: number) => rateOf(chain, apy, { asset: 'DAI', market: '0xdai' })

const back = [quoteOf('base', 'DAI', 'USDC', [1n, 1n])]

describe('planIntent, lend: over a swap', () => {
  const state = stateOf({
    chains: [chainOf('base', '100'), chainOf('arbitrum', '0')],
    rates: [rateOf('base', 3), dai('base', 4)],
    swaps: poolOf('base', [units('100'), units('99.9')]),
  })

  test('swaps the balance of the chain, for at least 99.5 % of the forecast', () => {
    const plan = planIntent(lend('10'), state)
    expect(plan).toMatchObject({ strategy: 'direct-deposit', expectedApy: 4 })
    expect(plan).toMatchObject({ estimatedGasUsd: 0.05, estimatedTime: '2-10 seconds' })
    expect(plan.steps).toEqual([
      {
        ...{ type: 'swap', sequence: 1, chain: 'base', protocol: 'uniswap-v3', asset: 'USDC' },
        ...{ toAsset: 'DAI', amount: '10', arrives: '9.99', minimum: '9.94005' },
      },
      {
        ...{ type: 'deposit', sequence: 2, chain: 'base', protocol: 'aave-v3', market: '0xdai' },
        ...{ asset: 'DAI', amount: '9.99' },
      },
    ])
  })

  test('swaps what arrives over a bridge', () => {
    const bridged = stateOf({
      chains: [chainOf('base', '100'), chainOf('arbitrum', '0')],
      rates: [rateOf('base', 3), dai('arbitrum', 4)],
      routes: [routeOf('base', 'arbitrum')],
      swaps: poolOf('arbitrum', [1_000n, 999n]),
    })
    const plan = planIntent(lend('10'), bridged)
    expect(plan).toMatchObject({ strategy: 'single-bridge', estimatedGasUsd: 0.29 })
    expect(plan.steps).toMatchObject([
      { type: 'bridge', sequence: 1, amount: '10', arrives: '9.999' },
      { type: 'swap', sequence: 2, amount: '9.999', arrives: '9.989001' },
      { type: 'deposit', sequence: 3, amount: '9.989001', asset: 'DAI' },
    ])
  })

  test('uses the quote with the highest output', () => {
    const better = { ...quoteOf('base', 'USDC', 'DAI', [10n, 10n]), protocol: 'curve' }
    const plan = planIntent(lend('10'), { ...state, swaps: [...state.swaps, better] })
    expect(plan.steps[0]).toMatchObject({ protocol: 'curve', arrives: '10', minimum: '9.95' })
  })

  test('skips a market without a swap into its asset, and explains it', () => {
    const plan = planIntent(lend('10'), { ...state, swaps: [] })
    expect(plan).toMatchObject({ expectedApy: 3 })
    expect(plan.reasoning).toContain(
      'aave-v3 on base pays more, 4.00 %, but there is no swap from USDC to DAI.',
    )
  })

  test('skips a market whose swap returns nothing', () => {
    const swaps = poolOf('base', [1_000n, 999n])
    const plan = planIntent(lend('0.000001'), { ...state, swaps })
    expect(plan).toMatchObject({ expectedApy: 3 })
    expect(plan.reasoning).toContain('but the swap would return nothing.')
  })

  test.each([
    ['of one half', [2n, 1n], 'a swap would return only 0.5 DAI for 1 USDC'],
    ['just below 99 %', [10_000n, 9_899n], 'a swap would return only 0.9899 DAI for 1 USDC'],
  ] as const)('skips a market behind a pool with a price %s', (_, [unitsIn, unitsOut], why) => {
    const swaps = poolOf('base', [unitsIn, unitsOut])
    const plan = planIntent(lend('10'), { ...state, swaps })
    expect(plan).toMatchObject({ expectedApy: 3, steps: [{ type: 'deposit' }] })
    expect(plan.reasoning).toContain(`aave-v3 on base pays more, 4.00 %, but ${why}.`)
    const only = failureOf(lend('10'), { ...state, swaps, rates: [dai('base', 4)] })
    expect(only.message).toBe(`The amount cannot be lent on base: ${why}.`)
  })

  test.each([
    ['of 1.1', [10n, 11n], '1.1'],
    ['just above 101 %', [10_000n, 10_101n], '1.0101'],
  ] as const)('skips a dollar that costs less than a dollar, at a price %s', (_, price, text) => {
    const swaps = poolOf('base', [...price])
    const why = `a swap would return ${text} DAI for 1 USDC, so DAI is worth less than a dollar`
    const plan = planIntent(lend('10'), { ...state, swaps })
    expect(plan).toMatchObject({ expectedApy: 3, steps: [{ type: 'deposit' }] })
    expect(plan.reasoning).toContain(`but ${why}.`)
    const only = failureOf(lend('10'), { ...state, swaps, rates: [dai('base', 4)] })
    expect(only.message).toBe(`The amount cannot be lent on base: ${why}.`)
  })

  test.each([
    ['at a loss', [10_000n, 9_899n], 'a swap would return only 0.9899 USDC for 1 DAI'],
    ['at a surplus', [10_000n, 10_101n], 'USDC is worth less than a dollar'],
    ['no longer', [0n, 0n], 'there is no swap from DAI to USDC'],
  ] as const)('skips a market from which the money could come back %s', (_, price, why) => {
    const [there] = poolOf('base', [1n, 1n])
    const swaps = [...(there ? [there] : []), quoteOf('base', 'DAI', 'USDC', [...price])]
    const plan = planIntent(lend('10'), { ...state, swaps })
    expect(plan).toMatchObject({ expectedApy: 3, steps: [{ type: 'deposit' }] })
    expect(plan.reasoning).toContain(`${why}, on the way back.`)
  })

  test('counts a surplus of a swap as no gain', () => {
    const own = rateOf('base', 4, { market: '0xother' })
    const swaps = poolOf('base', [10_000n, 10_100n])
    // The swap costs gas only, and its surplus does not pay for it.
    const plan = planIntent(lend('10'), { ...state, rates: [dai('base', 4), own], swaps })
    expect(plan.steps).toMatchObject([{ type: 'deposit', market: '0xother' }])
  })

  test('never plans a minimum below 99 % of parity', () => {
    const swaps = poolOf('base', [10_000n, 9_910n])
    const plan = planIntent(lend('10'), { ...state, swaps })
    expect(plan.steps[0]).toMatchObject({ arrives: '9.91', minimum: '9.9' })
  })

  test.each([9_949n, 10_051n])('skips a pool whose price has moved: 9,999 to %d', (now) => {
    const quote = quoteOf('base', 'USDC', 'DAI', [10_000n, now])
    const drifting = { ...quote, averageUnitsOut: 10_000n }
    const plan = planIntent(lend('10'), { ...state, swaps: [drifting, ...back] })
    expect(plan).toMatchObject({ expectedApy: 3 })
    expect(plan.reasoning).toContain('from USDC to DAI has moved in the last minutes.')
    const calm = { ...quote, averageUnitsOut: now }
    expect(planIntent(lend('10'), { ...state, swaps: [calm, ...back] })).toMatchObject({
      expectedApy: 4,
    })
  })

  test('uses the limits of the deployment', () => {
    const swaps = poolOf('base', [1_000n, 999n])
    const strict = { ...defaultLimits, swapLossBps: 9n }
    expect(planIntent(lend('10'), { ...state, swaps, limits: strict }).expectedApy).toBe(3)
    const lax = { ...defaultLimits, swapLossBps: 10n }
    expect(planIntent(lend('10'), { ...state, swaps, limits: lax }).expectedApy).toBe(4)
  })
})

describe('planIntent, lend with netOverDays', () => {
  const state = stateOf({
    chains: [chainOf('base', '100'), chainOf('arbitrum', '0')],
    rates: [rateOf('base', 3), rateOf('arbitrum', 5)],
    routes: [routeOf('base', 'arbitrum')],
  })

  // The move costs 0.25 USD more and earns 0.0054789 USD more a day.
  test('stays when the move has not paid for itself by then', () => {
    const plan = planIntent(lend('100', { netOverDays: 45 }), state)
    expect(plan).toMatchObject({ strategy: 'direct-deposit', targetChain: 'base', expectedApy: 3 })
    expect(plan.reasoning).toBe(
      'aave-v3 on base pays 3.00 % on USDC, worth most after costs over 45 days of 2 that can be ' +
        'reached. Next comes aave-v3 on arbitrum: worth 0.003486 USD less over 45 days.',
    )
  })

  test('moves when it has', () => {
    const plan = planIntent(lend('100', { netOverDays: 46 }), state)
    expect(plan).toMatchObject({ strategy: 'single-bridge', targetChain: 'arbitrum' })
    expect(plan.reasoning).toContain('pays for itself after 46 days.')
    expect(plan.reasoning).toContain('aave-v3 on base: worth 0.001991 USD less over 46 days.')
  })

  test('compares direct routes too: a rate that gas consumes loses', () => {
    const dear = { ...usualGasUsd, deposit: 2 }
    const chains = [chainOf('base', '100'), chainOf('arbitrum', '100', { gasUsd: dear })]
    const both = { ...state, chains }
    expect(planIntent(lend('100', { netOverDays: 30 }), both).targetChain).toBe('base')
    expect(planIntent(lend('100', { netOverDays: 3000 }), both).targetChain).toBe('arbitrum')
  })

  test('counts the loss of a swap', () => {
    const swaps = poolOf('base', [100n, 99n])
    const lossy = stateOf({ ...state, rates: [rateOf('base', 3), dai('base', 4)], swaps })
    expect(planIntent(lend('100', { netOverDays: 300 }), lossy).expectedApy).toBe(3)
    expect(planIntent(lend('100', { netOverDays: 500 }), lossy).expectedApy).toBe(4)
  })

  test('of two candidates with the same value, the one with the lower cost comes first', () => {
    const dear = { ...usualGasUsd, deposit: 0.02 }
    const chains = [chainOf('base', '100', { gasUsd: dear }), chainOf('arbitrum', '100')]
    // 0.0365 % of 100 USDC over 100 days equals the 0.01 USD of gas that base costs more.
    const rates = [rateOf('base', 3.0365), rateOf('arbitrum', 3)]
    const even = stateOf({ chains, rates })
    expect(planIntent(lend('100', { netOverDays: 100 }), even).targetChain).toBe('arbitrum')
    expect(planIntent(lend('100', { netOverDays: 101 }), even).targetChain).toBe('base')
  })
})

describe('planIntent, lend: errors', () => {
  const rates = [rateOf('arbitrum', 1)]
  const routes = [routeOf('base', 'arbitrum'), routeOf('ethereum', 'arbitrum')]
  const chains = [chainOf('ethereum', '0'), chainOf('arbitrum', '9.999999'), chainOf('base', '6')]

  test('error: INSUFFICIENT_FUNDS when one base unit is missing, with the balances of all chains', () => {
    const { code, message, details } = failureOf(lend('10'), stateOf({ chains, rates, routes }))
    expect(code).toBe('INSUFFICIENT_FUNDS')
    expect(message).toBe(
      'The intent needs 10 USDC on one chain. 9.999999 is available. ' +
        'Several chains together have 15.999999 USDC.',
    )
    expect(details).toEqual({
      required: '10',
      available: '9.999999',
      funds: [
        { chain: 'ethereum', asset: 'USDC', amount: '0' },
        { chain: 'arbitrum', asset: 'USDC', amount: '9.999999' },
        { chain: 'base', asset: 'USDC', amount: '6' },
      ],
    })
  })

  test('error: INSUFFICIENT_FUNDS counts only chains with a route to the named one', () => {
    const state = stateOf({ chains, rates: [rateOf('base', 1)], routes })
    const { code, message, details } = failureOf(lend('7', { chain: 'base' }), state)
    expect(code).toBe('INSUFFICIENT_FUNDS')
    expect(message).toBe('The intent needs 7 USDC on base. 6 is available.')
    expect(details).toMatchObject({ required: '7', available: '6' })
  })

  test('error: INSUFFICIENT_FUNDS when the money is on a chain without a route to a market', () => {
    const state = stateOf({ chains: [chainOf('base', '1000'), chainOf('arbitrum', '0')], rates })
    const { code, details } = failureOf(lend('1'), state)
    expect(code).toBe('INSUFFICIENT_FUNDS')
    expect(details).toMatchObject({ available: '0' })
  })

  test('error: INVALID_REQUEST when the named chain has no market', () => {
    const { code, details } = failureOf(lend('1', { chain: 'base' }), stateOf({ chains, rates }))
    expect(code).toBe('INVALID_REQUEST')
    expect(details).toMatchObject({ issues: [{ path: 'chain' }] })
  })

  test('error: INVALID_REQUEST when no chain has a market', () => {
    expect(failureOf(lend('1'), stateOf({ chains })).code).toBe('INVALID_REQUEST')
  })

  test('error: INVALID_REQUEST when no swap leads to the asset of the only markets', () => {
    const state = stateOf({ chains, rates: [dai('base', 4)] })
    expect(failureOf(lend('1'), state).code).toBe('INVALID_REQUEST')
  })

  test('error: INVALID_REQUEST when the bridge moves less than the amount at once', () => {
    const narrow = [routeOf('base', 'arbitrum', { maxUnits: units('5') })]
    const state = stateOf({ chains: [chainOf('base', '6'), chainOf('arbitrum', '0')], rates })
    const { code, message, details } = failureOf(lend('6'), { ...state, routes: narrow })
    expect(code).toBe('INVALID_REQUEST')
    expect(message).toBe(
      'The amount cannot be lent on arbitrum: the bridge from base to arbitrum moves at most 5 ' +
        'USDC at once.',
    )
    expect(details).toMatchObject({ issues: [{ path: 'amount' }] })
  })
})
