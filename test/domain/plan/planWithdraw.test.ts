import { describe, expect, test } from 'vitest'
import { planIntent } from '../../../domain/plan/planIntent.js'
import { chainOf, failureOf, positionOf, quoteOf, rateOf, stateOf, units } from './markets.js'
import type { WithdrawRequest } from '../../../domain/intent/intent.js'
import type { PositionState } from '../../../domain/plan/market.js'

const withdraw = (amount: string): WithdrawRequest => ({
  ...{ action: 'withdraw', asset: 'USDC', chain: 'base' },
  amountUnits: amount === 'max' ? 'max' : units(amount),
})
const compound = { protocol: 'compound-v3', market: '0xcomet' }
const dai = { asset: 'DAI', market: '0xdai' }

/** On base, where aave-v3 pays 3 % and compound-v3 2 %; 100 DAI return 99.9 USDC. */
const market = (...positions: PositionState[]) =>
  stateOf({
    chains: [chainOf('base', '0'), chainOf('arbitrum', '0')],
    rates: [rateOf('base', 3), rateOf('base', 2, compound), rateOf('base', 1, dai)],
    swaps: [quoteOf('base', 'DAI', 'USDC', [units('100'), units('99.9')])],
    positions,
  })
const aave = (available: string, changes = {}) => positionOf('base', available, changes)
const comet = (available: string, changes = {}) => aave(available, { ...compound, ...changes })
const inDai = (available: string, changes = {}) => aave(available, { ...dai, ...changes })

describe('planIntent, withdraw: an amount', () => {
  test('withdraws exact units from the only market', () => {
    expect(planIntent(withdraw('10'), market(aave('20')))).toEqual({
      strategy: 'direct-withdraw',
      targetChain: 'base',
      targetProtocol: 'aave-v3',
      steps: [
        {
          ...{ type: 'withdraw', sequence: 1, chain: 'base', protocol: 'aave-v3' },
          ...{ market: '0xmarket-base', asset: 'USDC', amount: '10' },
        },
      ],
      estimatedGasUsd: 0.02,
      estimatedTime: '1-5 seconds',
      reasoning: 'From aave-v3 on base: it has the lowest rate of the markets with enough, 3.00 %.',
    })
  })

  test('leaves the lowest-paying market of those that have enough', () => {
    const plan = planIntent(withdraw('10'), market(aave('20'), comet('11')))
    expect(plan).toMatchObject({ targetProtocol: 'compound-v3', steps: [{ amount: '10' }] })
    const other = planIntent(withdraw('10'), market(aave('20'), comet('9')))
    expect(other).toMatchObject({ targetProtocol: 'aave-v3', steps: [{ amount: '10' }] })
  })

  test('a market without enough liquidity does not have enough', () => {
    const dry = comet('20', { liquidityUnits: units('9') })
    expect(planIntent(withdraw('10'), market(aave('20'), dry)).targetProtocol).toBe('aave-v3')
  })

  test('starts with the largest when none has enough alone', () => {
    const third = aave('2', { protocol: 'morpho', market: '0xmorpho' })
    const plan = planIntent(withdraw('10'), market(third, aave('5'), comet('6')))
    expect(plan.steps).toMatchObject([
      { sequence: 1, protocol: 'compound-v3', amount: '6', everything: true },
      { sequence: 2, protocol: 'aave-v3', amount: '4' },
    ])
    expect(plan).toMatchObject({ estimatedGasUsd: 0.04, estimatedTime: '2-10 seconds' })
    expect(plan.steps[1]).not.toHaveProperty('everything')
    expect(plan.reasoning).toBe(
      'From compound-v3 on base, aave-v3 on base: no single market has enough, the largest come ' +
        'first.',
    )
  })

  test('withdraws exact units from a busy market, or one without cash for the whole position', () => {
    const busy = market(aave('5'), comet('6', { isBusy: true }))
    const { steps } = planIntent(withdraw('10'), busy)
    expect(steps).toMatchObject([{ amount: '6' }, { amount: '4' }])
    expect(steps[0]).not.toHaveProperty('everything')
    const short = market(aave('5'), comet('60', { liquidityUnits: units('6') }))
    expect(planIntent(withdraw('10'), short).steps[0]).not.toHaveProperty('everything')
  })

  test('leaves no rounding dust in a market, and takes no more than that in addition to the amount', () => {
    const emptying = (available: string) => {
      const state = market(aave(available), comet('500'))
      const cheap = { ...state, rates: [rateOf('base', 1), rateOf('base', 2, compound)] }
      return planIntent(withdraw('10'), cheap).steps
    }
    expect(emptying('10.00001')).toMatchObject([{ amount: '10.00001', everything: true }])
    const [exact] = emptying('10.000011')
    expect(exact).toMatchObject({ amount: '10' })
    expect(exact).not.toHaveProperty('everything')
  })

  test('does not use other chains', () => {
    const state = market(positionOf('arbitrum', '100'), aave('20'))
    expect(planIntent(withdraw('10'), state).steps).toMatchObject([{ chain: 'base' }])
  })
})

describe('planIntent, withdraw: from a market of another asset', () => {
  test('withdraws as much as the swap needs for the amount', () => {
    const plan = planIntent(withdraw('10'), market(inDai('20')))
    expect(plan).toMatchObject({ estimatedGasUsd: 0.06, estimatedTime: '2-10 seconds' })
    expect(plan.steps).toEqual([
      {
        ...{ type: 'withdraw', sequence: 1, chain: 'base', protocol: 'aave-v3' },
        ...{ market: '0xdai', asset: 'DAI', amount: '10.010011' },
      },
      {
        ...{ type: 'swap', sequence: 2, chain: 'base', protocol: 'uniswap-v3', asset: 'DAI' },
        ...{ toAsset: 'USDC', amount: '10.010011', arrives: '10', minimum: '9.95' },
      },
    ])
    expect(plan.reasoning).toContain('DAI is swapped to USDC.')
  })

  test('uses markets of the requested asset first, regardless of rates and sizes', () => {
    const { steps } = planIntent(withdraw('10'), market(inDai('500'), aave('20')))
    expect(steps).toMatchObject([{ type: 'withdraw', asset: 'USDC', amount: '10' }])
    const both = planIntent(withdraw('30'), market(inDai('25'), aave('20')))
    expect(both.steps).toMatchObject([
      { type: 'withdraw', sequence: 1, asset: 'USDC', amount: '20', everything: true },
      { type: 'withdraw', sequence: 2, asset: 'DAI', amount: '10.010011' },
      { type: 'swap', sequence: 3, asset: 'DAI', amount: '10.010011', arrives: '10' },
    ])
  })

  test('prefers one swapped market with enough to two', () => {
    const plan = planIntent(withdraw('30'), market(inDai('50'), aave('20'), comet('20')))
    expect(plan.steps).toMatchObject([{ asset: 'DAI' }, { type: 'swap', arrives: '30' }])
  })

  test('skips a position without a swap', () => {
    const state = { ...market(inDai('20')), swaps: [] }
    expect(failureOf(withdraw('10'), state).details).toMatchObject({ available: '0' })
  })

  test('skips a position behind a pool at half the price, and explains it', () => {
    const swaps = [quoteOf('base', 'DAI', 'USDC', [2n, 1n])]
    const half = { ...market(inDai('20')), swaps }
    const why = '20 DAI in aave-v3 does not count: a swap would return only 0.5 USDC for 1 DAI.'
    expect(failureOf(withdraw('10'), half).message).toContain(`0 is available. ${why}`)
    expect(failureOf(withdraw('max'), half).message).toBe(
      `There is nothing to withdraw on base. ${why}`,
    )
    const both = { ...market(inDai('20'), aave('11')), swaps }
    expect(planIntent(withdraw('10'), both).steps).toMatchObject([{ asset: 'USDC' }])
  })
})

describe('planIntent, withdraw: everything', () => {
  test('max empties every market of the chain, and swaps immediately after', () => {
    const state = market(inDai('10'), aave('5'), comet('6'), aave('0', { market: '0xempty' }))
    const plan = planIntent(withdraw('max'), state)
    expect(plan.steps).toMatchObject([
      { type: 'withdraw', protocol: 'compound-v3', amount: '6', everything: true },
      { type: 'withdraw', protocol: 'aave-v3', amount: '5', everything: true },
      { type: 'withdraw', asset: 'DAI', amount: '10', everything: true },
      { type: 'swap', asset: 'DAI', amount: '10', arrives: '9.99' },
    ])
    expect(plan.steps.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
    expect(plan.reasoning).toContain('everything is withdrawn')
  })

  test.each([
    ['14.99999', 'ten base units of rounding less'],
    ['15', 'the whole'],
    ['15.00001', 'ten base units of rounding more'],
  ])('%s of 15 withdraw everything: %s', (amount) => {
    const { steps } = planIntent(withdraw(amount), market(aave('5'), comet('10')))
    expect(steps).toMatchObject([
      { amount: '10', everything: true },
      { amount: '5', everything: true },
    ])
  })

  test.each([
    ['0.99', '1'],
    ['14.999989', '15'],
    ['0.004994', '0.005'],
  ])('%s of %s withdraw exactly that', (amount, whole) => {
    const { steps } = planIntent(withdraw(amount), market(aave(whole)))
    expect(steps).toMatchObject([{ amount }])
    expect(steps[0]).not.toHaveProperty('everything')
  })

  test('the dust of a small amount is a thousandth of it', () => {
    expect(planIntent(withdraw('0.005'), market(aave('0.004995'))).steps).toMatchObject([
      { amount: '0.004995', everything: true },
    ])
    const { code } = failureOf(withdraw('0.000011'), market(aave('0.000001')))
    expect(code).toBe('INSUFFICIENT_FUNDS')
    expect(failureOf(withdraw('0.005'), market(aave('0.004994'))).code).toBe('INSUFFICIENT_FUNDS')
  })

  test('the whole position as an amount is withdrawn in exact units while another intent withdraws', () => {
    const { steps } = planIntent(withdraw('15'), market(aave('15', { isBusy: true })))
    expect(steps).toMatchObject([{ amount: '15' }])
    expect(steps[0]).not.toHaveProperty('everything')
  })

  test.each(['max', '15.000001'])(
    'error: market_busy for %s while another intent withdraws',
    (amount) => {
      const state = market(aave('10'), comet('5', { isBusy: true }))
      const { code, message, details } = failureOf(withdraw(amount), state)
      expect(code).toBe('INVALID_REQUEST')
      expect(message).toContain('Another intent is withdrawing from compound-v3 on base.')
      expect(details).toEqual({
        ...{ reason: 'market_busy', issues: [{ path: 'chain', message }] },
      })
    },
  )

  test('error: market_busy for max although the other intent withdraws the whole position', () => {
    const { details } = failureOf(withdraw('max'), market(aave('0', { isBusy: true })))
    expect(details).toMatchObject({ reason: 'market_busy', issues: [{ path: 'chain' }] })
  })
})

describe('planIntent, withdraw: errors', () => {
  test('error: INSUFFICIENT_FUNDS with all positions, on all chains', () => {
    const state = market(aave('10'), comet('5'), positionOf('arbitrum', '7'))
    const { code, message, details } = failureOf(withdraw('15.000011'), state)
    expect(code).toBe('INSUFFICIENT_FUNDS')
    expect(message).toBe('The intent needs 15.000011 USDC lent on base. 15 is available.')
    expect(details).toEqual({
      required: '15.000011',
      available: '15',
      funds: [
        { chain: 'base', protocol: 'aave-v3', asset: 'USDC', amount: '10' },
        { chain: 'base', protocol: 'compound-v3', asset: 'USDC', amount: '5' },
        { chain: 'arbitrum', protocol: 'aave-v3', asset: 'USDC', amount: '7' },
      ],
    })
  })

  test('error: INSUFFICIENT_FUNDS for max without a position', () => {
    const { code, message, details } = failureOf(
      withdraw('max'),
      market(positionOf('arbitrum', '7')),
    )
    expect(code).toBe('INSUFFICIENT_FUNDS')
    expect(message).toBe('There is nothing to withdraw on base.')
    expect(details).toMatchObject({ required: 'max', available: '0' })
    expect(details.funds).toEqual([
      { chain: 'arbitrum', protocol: 'aave-v3', asset: 'USDC', amount: '7' },
    ])
  })

  test('error: INSUFFICIENT_FUNDS for a few base units without a position', () => {
    expect(failureOf(withdraw('0.000005'), market()).code).toBe('INSUFFICIENT_FUNDS')
  })

  test.each([
    ['10', '10'],
    ['max', '20'],
  ])('error: no_liquidity for %s when the markets cannot pay it out', (amount, required) => {
    const state = market(
      aave('10', { liquidityUnits: units('3') }),
      comet('10', { liquidityUnits: units('4') }),
    )
    const { code, message, details } = failureOf(withdraw(amount), state)
    expect(code).toBe('INSUFFICIENT_FUNDS')
    expect(message).toBe('The markets on base can pay out at most 7 USDC now.')
    const at = { chain: 'base', asset: 'USDC', amount: '10' }
    expect(details).toEqual({
      ...{ reason: 'no_liquidity', required, available: '7' },
      funds: [
        { ...at, protocol: 'aave-v3' },
        { ...at, protocol: 'compound-v3' },
      ],
    })
  })
})

describe('planIntent, withdraw: money that was withdrawn before and not swapped', () => {
  const after = (amount: string, held: string) => ({
    ...withdraw(amount),
    unswapped: { asset: 'DAI', units: units(held) },
  })

  test('is swapped first, and the markets supply the rest', () => {
    const plan = planIntent(after('10', '5'), market(aave('20')))
    expect(plan).toMatchObject({ targetProtocol: 'aave-v3', estimatedGasUsd: 0.06 })
    expect(plan.steps).toMatchObject([
      { sequence: 1, type: 'swap', asset: 'DAI', toAsset: 'USDC', amount: '5', arrives: '4.995' },
      { sequence: 2, type: 'withdraw', asset: 'USDC', amount: '5.005' },
    ])
    expect(plan.reasoning).toMatch(/^DAI in the wallet is swapped to USDC\. From aave-v3/)
  })

  test('suffices when it covers the amount within its slippage, without a position', () => {
    for (const amount of ['max', '5', '4.9']) {
      const plan = planIntent(after(amount, '5'), market())
      expect(plan.steps).toMatchObject([{ sequence: 1, type: 'swap', amount: '5' }])
      expect(plan).not.toHaveProperty('targetProtocol')
    }
  })

  test('with max: the positions are withdrawn too', () => {
    const plan = planIntent(after('max', '5'), market(aave('20'), inDai('3')))
    expect(plan.steps).toMatchObject([
      { type: 'swap', amount: '5' },
      { type: 'withdraw', asset: 'USDC', amount: '20', everything: true },
      { type: 'withdraw', asset: 'DAI', amount: '3', everything: true },
      { type: 'swap', amount: '3' },
    ])
  })

  test('error: no_swap without a pool, INSUFFICIENT_FUNDS when the rest is missing', () => {
    const dry = { ...market(aave('20')), swaps: [] }
    expect(failureOf(after('max', '5'), dry)).toMatchObject({
      ...{ code: 'INVALID_REQUEST', details: { reason: 'no_swap' } },
    })
    const half = { ...dry, swaps: [quoteOf('base', 'DAI', 'USDC', [2n, 1n])] }
    expect(failureOf(after('max', '5'), half)).toMatchObject({
      message: 'Nothing is swapped on base now: a swap would return only 0.5 USDC for 1 DAI.',
      details: { reason: 'no_swap' },
    })
    const poor = failureOf(after('10', '5'), market(aave('5')))
    expect(poor).toMatchObject({ code: 'INSUFFICIENT_FUNDS', details: { required: '5.005' } })
  })
})
