import { describe, expect, test } from 'vitest'
import { planIntent } from '../../../domain/plan/planIntent.js'
import {
  chainOf,
  failureOf,
  quoteOf,
  rateOf,
  routeOf,
  stateOf,
  units,
  usualGasUsd,
} from './markets.js'
import type { LendRequest } from '../../../domain/intent/intent.js'
import type { MarketState } from '../../../domain/plan/market.js'

const rates = [rateOf('ethereum', 1.52), rateOf('arbitrum', 3.51), rateOf('base', 3.15)]
const names = ['ethereum', 'arbitrum', 'base']
const routes = names.flatMap((from) =>
  names.filter((to) => to !== from).map((to) => routeOf(from, to)),
)

/** Whole tokens per chain. Every chain is linked with every other one. */
const market = (balances: Record<string, string>, changes: Partial<MarketState> = {}) =>
  stateOf({
    chains: Object.entries(balances).map(([chain, available]) => chainOf(chain, available)),
    ...{ rates, routes },
    ...changes,
  })

const rich = { ethereum: '1000', arbitrum: '1000', base: '1000' }
const onBase = { ethereum: '0', arbitrum: '0', base: '1000' }

const lend = (amount: string, changes: Partial<LendRequest> = {}): LendRequest => ({
  ...{ action: 'lend', asset: 'USDC', amountUnits: units(amount) },
  ...changes,
})

const aave = (chain: string, apy: number) => ({ chain, protocol: 'aave-v3', asset: 'USDC', apy })

describe('planIntent, lend: where the money is', () => {
  test('deposits where the APY is highest', () => {
    expect(planIntent(lend('12.5'), market(rich))).toEqual({
      strategy: 'direct-deposit',
      targetChain: 'arbitrum',
      targetProtocol: 'aave-v3',
      expectedApy: 3.51,
      steps: [
        {
          ...{ type: 'deposit', sequence: 1, chain: 'arbitrum', protocol: 'aave-v3' },
          ...{ market: '0xmarket-arbitrum', asset: 'USDC', amount: '12.5' },
        },
      ],
      estimatedGasUsd: 0.01,
      estimatedTime: '1-5 seconds',
      reasoning:
        'aave-v3 on arbitrum pays 3.51 % on USDC, the best rate of 3 that can be reached. ' +
        'Next comes aave-v3 on base: it pays less, 3.15 %.',
      alternatives: [
        // 3.15 % of 12.5 USDC are 0.39375 USD a year, less 0.01 USD of gas.
        { ...aave('base', 3.15), netUsd: 0.38375, why: 'It pays less, 3.15 %.' },
        { ...aave('ethereum', 1.52), netUsd: 0.18, why: 'It pays less, 1.52 %.' },
      ],
    })
  })

  test('deposits on the named chain although another one pays more', () => {
    const plan = planIntent(lend('1', { chain: 'ethereum' }), market(rich))
    expect(plan).toMatchObject({ strategy: 'direct-deposit', targetChain: 'ethereum' })
    expect(plan.expectedApy).toBe(1.52)
    expect(plan.reasoning).toBe(
      'aave-v3 on ethereum pays 1.52 % on USDC; the request names this chain.',
    )
  })

  test('uses the best market of the named chain', () => {
    const compound = rateOf('ethereum', 2.5, { protocol: 'compound-v3' })
    const state = market(rich, { rates: [...rates, compound] })
    const plan = planIntent(lend('1', { chain: 'ethereum' }), state)
    expect(plan).toMatchObject({ targetProtocol: 'compound-v3', expectedApy: 2.5 })
  })

  test('spends the last base unit', () => {
    const plan = planIntent(lend('10'), market({ base: '10' }))
    expect(plan.steps).toMatchObject([{ type: 'deposit', amount: '10', chain: 'base' }])
  })

  test('deposits at the best reachable rate, and explains why not at a better one', () => {
    const state = market({ ethereum: '10', arbitrum: '9.999999', base: '10' }, { routes: [] })
    const plan = planIntent(lend('10'), state)
    expect(plan.targetChain).toBe('base')
    expect(plan.reasoning).toContain(
      'aave-v3 on arbitrum pays more, 3.51 %, but there is no bridge from ethereum to arbitrum.',
    )
  })

  test.each([
    ['0', 'it accepts no deposits now'],
    ['9.99', 'it accepts only 9.99 USDC more'],
  ])('skips a market with a capacity of %s, and explains it', (room, why) => {
    const arbitrum = rateOf('arbitrum', 3.51, { capacityUnits: units(room) })
    const state = market(rich, { rates: [...rates.filter((one) => one !== rates[1]), arbitrum] })
    const plan = planIntent(lend('10'), state)
    expect(plan.targetChain).toBe('base')
    expect(plan.reasoning).toContain(`aave-v3 on arbitrum pays more, 3.51 %, but ${why}.`)
    const error = failureOf(lend('10', { chain: 'arbitrum' }), state)
    expect([error.code, error.details.issues]).toEqual([
      'INVALID_REQUEST',
      [{ path: 'amount', message: `The amount cannot be lent on arbitrum: ${why}.` }],
    ])
  })

  test('explains that a swap returns nothing, not that the market is full', () => {
    const rate = rateOf('arbitrum', 3.51, { asset: 'TUSD', capacityUnits: units('1000') })
    const swaps = [
      quoteOf('arbitrum', 'USDC', 'TUSD', [1_000n, 999n]),
      quoteOf('arbitrum', 'TUSD', 'USDC', [1n, 1n]),
    ]
    const error = failureOf(lend('0.000001'), market(rich, { rates: [rate], swaps }))
    expect(error.message).toContain('the swap would return nothing')
  })

  test('fills a market to the last unit of its capacity, without the bridge fee', () => {
    const arbitrum = rateOf('arbitrum', 3.51, { capacityUnits: units('9.999') })
    const state = market({ ethereum: '0', arbitrum: '0', base: '100' }, { rates: [arbitrum] })
    expect(planIntent(lend('10'), state)).toMatchObject({
      ...{ strategy: 'single-bridge', targetChain: 'arbitrum' },
      steps: [{ type: 'bridge' }, { type: 'deposit', amount: '9.999' }],
    })
    expect(failureOf(lend('10.000002'), state).message).toContain('it accepts only 9.999 USDC more')
  })

  test('equal rates: the one with the lower cost, then the first', () => {
    const equal = names.map((chain) => rateOf(chain, 3))
    const cheap = chainOf('base', '10', { gasUsd: { ...usualGasUsd, deposit: 0.001 } })
    const same = market({ ethereum: '10', arbitrum: '10' }, { rates: equal })
    const plan = planIntent(lend('10'), same)
    expect(plan.targetChain).toBe('ethereum')
    expect(plan.reasoning).toContain('arbitrum: it pays the same at the same cost.')
    const cheaper = planIntent(lend('10'), { ...same, chains: [...same.chains, cheap] })
    expect(cheaper.targetChain).toBe('base')
    expect(cheaper.reasoning).toContain('ethereum: it pays the same at a higher cost.')
  })
})

describe('planIntent, lend: over a bridge', () => {
  test('moves the money to the best rate when one other chain has it', () => {
    const plan = planIntent(lend('10'), market(onBase))
    expect(plan).toMatchObject({
      ...{ strategy: 'single-bridge', targetChain: 'arbitrum', expectedApy: 3.51 },
      ...{ estimatedGasUsd: 0.25, estimatedTime: '11-35 seconds' },
    })
    expect(plan.steps).toEqual([
      {
        ...{ type: 'bridge', sequence: 1, from: 'base', to: 'arbitrum', protocol: 'cctp' },
        ...{ asset: 'USDC', amount: '10', arrives: '9.999', maxFee: '0.0012', speed: 'fast' },
      },
      {
        ...{ type: 'deposit', sequence: 2, chain: 'arbitrum', protocol: 'aave-v3' },
        ...{ market: '0xmarket-arbitrum', asset: 'USDC', amount: '9.999' },
      },
    ])
  })

  test('explains the cost of the move and when the better rate has paid for it', () => {
    // 0.001 USDC and 0.24 USD more for 0.36 % of 10 USDC a year: 0.241 / (0.0359649 / 365).
    expect(planIntent(lend('10'), market(onBase)).reasoning).toBe(
      'aave-v3 on arbitrum pays 3.51 % on USDC, the best rate of 3 that can be reached. ' +
        'The money comes from base for a bridge fee of 0.001 USDC and 0.24 USD of gas. ' +
        'Compared with aave-v3 on base, which needs no bridge, the move pays for itself ' +
        'after about 7 years. Next comes aave-v3 on base: it pays less, 3.15 %.',
    )
  })

  test.each([
    ['1000', '35 days'],
    ['150', 'about 6 months'],
    ['30', 'about 2 years'],
    ['7', 'about 10 years'],
  ])('formats the time in a readable unit: %s USDC, %s', (amount, span) => {
    const { reasoning } = planIntent(lend(amount), market(onBase))
    expect(reasoning).toContain(`pays for itself after ${span}.`)
  })

  test('explains when the amount is too small for the move', () => {
    expect(planIntent(lend('1'), market(onBase)).reasoning).toContain(
      'the move does not pay for itself within 10 years at this amount.',
    )
  })

  test('explains when no market on the chain of the money is open', () => {
    const state = market(onBase, { rates: [rateOf('arbitrum', 3)] })
    expect(planIntent(lend('10'), state).reasoning).toContain(
      'The chain of the money has no open market.',
    )
  })

  test('explains when the better rate never pays for the move', () => {
    const even = [rateOf('base', 3), rateOf('arbitrum', 3.0001)]
    const plan = planIntent(lend('10'), market(onBase, { rates: even }))
    expect(plan.targetChain).toBe('arbitrum')
    expect(plan.reasoning).toContain('the move does not pay for itself.')
  })

  test('moves the money to the named chain', () => {
    const plan = planIntent(lend('10', { chain: 'ethereum' }), market(onBase))
    expect(plan).toMatchObject({ strategy: 'single-bridge', targetChain: 'ethereum' })
    expect(plan.reasoning).toBe(
      'aave-v3 on ethereum pays 1.52 % on USDC; the request names this chain. ' +
        'The money comes from base for a bridge fee of 0.001 USDC and 0.24 USD of gas.',
    )
  })

  test('prefers money on the chain itself to a bridge', () => {
    const free = { ...usualGasUsd, burn: 0, mint: 0 }
    const chains = [chainOf('base', '10', { gasUsd: free }), chainOf('arbitrum', '10')]
    expect(planIntent(lend('10'), market({}, { chains })).strategy).toBe('direct-deposit')
  })

  test('uses the source with the lowest fee and gas, and among equals the first', () => {
    const even = market({ ethereum: '10', arbitrum: '0', base: '10' })
    expect(planIntent(lend('10'), even).steps[0]).toMatchObject({ from: 'ethereum' })
    const dear = routeOf('ethereum', 'arbitrum', { feeMillionths: 101n })
    const uneven = { ...even, routes: [dear, ...routes.slice(1)] }
    expect(planIntent(lend('10'), uneven).steps[0]).toMatchObject({ from: 'base' })
    const gas = { ...usualGasUsd, burn: 0.0799 }
    const [, ...others] = even.chains
    const cheap = { ...uneven, chains: [chainOf('ethereum', '10', { gasUsd: gas }), ...others] }
    expect(planIntent(lend('10'), cheap).steps[0]).toMatchObject({ from: 'ethereum' })
  })

  test('uses the first route that can move the amount', () => {
    const fast = routeOf('base', 'arbitrum', { maxUnits: units('10') })
    const standard = routeOf('base', 'arbitrum', {
      ...{ speed: 'standard', feeMillionths: 0n, seconds: [780, 1140] },
    })
    const state = market(onBase, { routes: [fast, standard] })
    expect(planIntent(lend('10'), state).steps[0]).toMatchObject({ speed: 'fast' })
    const plan = planIntent(lend('10.000001'), state)
    expect(plan.steps[0]).toMatchObject({ speed: 'standard', arrives: '10.000001', maxFee: '0' })
    expect(plan.estimatedTime).toBe('13-20 minutes')
  })

  test('uses the standard route when the reported fee of the fast one is absurd', () => {
    const absurd = routeOf('base', 'arbitrum', { feeMillionths: 2_001n })
    const standard = routeOf('base', 'arbitrum', { speed: 'standard', feeMillionths: 0n })
    const plan = planIntent(lend('10'), market(onBase, { routes: [absurd, standard] }))
    expect(plan.steps[0]).toMatchObject({ speed: 'standard', maxFee: '0' })
    const without = planIntent(lend('10'), market(onBase, { routes: [absurd] }))
    expect(without).toMatchObject({ strategy: 'direct-deposit', targetChain: 'base' })
    expect(without.reasoning).toContain(
      'but the bridge from base to arbitrum takes a fee of 0.02001 USDC, above the limit of 0.02 USDC.',
    )
  })

  test('allows at most the highest fee, although a plan allows a fifth above the reported one', () => {
    const dear = routeOf('base', 'arbitrum', { feeMillionths: 2_000n })
    const plan = planIntent(lend('10'), market(onBase, { routes: [dear] }))
    expect(plan.steps[0]).toMatchObject({ arrives: '9.98', maxFee: '0.02' })
  })

  test('rounds the fee up to a base unit, and its maximum is below the amount', () => {
    const plan = planIntent(lend('0.000002'), market(onBase))
    expect(plan.steps[0]).toMatchObject({ arrives: '0.000001', maxFee: '0.000001' })
    expect(planIntent(lend('0.00001'), market(onBase)).steps[0]).toMatchObject({
      ...{ arrives: '0.000009', maxFee: '0.000001' },
    })
  })

  test('does not bridge an amount that the fee would consume', () => {
    const plan = planIntent(lend('0.000001'), market(onBase))
    expect(plan).toMatchObject({ strategy: 'direct-deposit', targetChain: 'base' })
    expect(plan.reasoning).toContain(
      'but the bridge from base to arbitrum takes a fee of 0.000001 USDC, which leaves nothing.',
    )
  })

  test('never combines two chains', () => {
    const { details } = failureOf(lend('10'), market({ arbitrum: '6', base: '6', ethereum: '9' }))
    expect(details).toMatchObject({ required: '10', available: '9' })
  })
})
