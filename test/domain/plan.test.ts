import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { toUnits } from '../../domain/money.js'
import { planIntent, type MarketState } from '../../domain/plan.js'
import { ServiceError } from '../../domain/errors.js'
import { holds } from './holds.js'
import type { ExecutionPlan, IntentRequest } from '../../domain/intent.js'

const apys = { ethereum: 1.52, arbitrum: 3.51, base: 3.15 }
type Name = keyof typeof apys

const rateOf = (chain: string, apyPercent: number) => ({
  ...{ chain, apyPercent },
  ...{ protocol: 'aave-v3', market: `0xmarket-${chain}`, asset: 'USDC' },
})

function state(balances: Partial<Record<Name, bigint>>): MarketState {
  return {
    decimals: 6,
    chains: Object.entries(balances).map(([chain, availableUnits]) => ({
      ...{ chain, availableUnits },
      ...{ depositGasUsd: 0.76, stepSeconds: [1, 5] as [number, number] },
    })),
    rates: Object.entries(apys).map(([chain, apy]) => rateOf(chain, apy)),
  }
}

const lend = (amount: string, chain?: string): IntentRequest => ({
  ...{ action: 'lend', asset: 'USDC', amountUnits: toUnits(amount, 6) },
  ...(chain ? { chain } : {}),
})

const failure = (request: IntentRequest, market: MarketState): ServiceError => {
  try {
    planIntent(request, market)
  } catch (error) {
    return error as ServiceError
  }
  throw new Error('It was planned.')
}

describe('planIntent', () => {
  test('lend: deposits where the APY is highest', () => {
    const rich = { ethereum: 10n ** 9n, arbitrum: 10n ** 9n, base: 10n ** 9n }
    expect(planIntent(lend('12.5'), state(rich))).toEqual({
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
      estimatedGasUsd: 0.76,
      estimatedTime: '1-5 seconds',
      reasoning: 'aave-v3 on arbitrum pays 3.51 % on USDC, the best rate of 3.',
    })
  })

  test('lend: deposits at the best rate among the chains that hold enough', () => {
    const market = state({ ethereum: 10n ** 9n, arbitrum: 9_999_999n, base: 10_000_000n })
    const plan = planIntent(lend('10'), market)
    expect(plan.targetChain).toBe('base')
    expect(plan.reasoning).toContain('arbitrum (3.51 %) pays more')
  })

  test('lend: deposits on the named chain though another one pays more', () => {
    const plan = planIntent(
      lend('1', 'ethereum'),
      state({ ethereum: 1_000_000n, arbitrum: 10n ** 9n }),
    )
    expect(plan).toMatchObject({ targetChain: 'ethereum', expectedApy: 1.52 })
    expect(plan.reasoning).toContain('names this chain')
  })

  test('lend: spends the last base unit', () => {
    const plan = planIntent(lend('10'), state({ base: 10_000_000n }))
    expect(plan.steps).toMatchObject([{ amount: '10', chain: 'base' }])
  })

  test('error: INSUFFICIENT_FUNDS when one base unit is missing', () => {
    const market = state({ ethereum: 0n, arbitrum: 9_999_999n, base: 1n })
    const { code, details } = failure(lend('10'), market)
    expect(code).toBe('INSUFFICIENT_FUNDS')
    expect(details).toEqual({
      required: '10',
      available: '9.999999',
      funds: [
        { chain: 'ethereum', asset: 'USDC', amount: '0' },
        { chain: 'arbitrum', asset: 'USDC', amount: '9.999999' },
        { chain: 'base', asset: 'USDC', amount: '0.000001' },
      ],
    })
  })

  test('error: INSUFFICIENT_FUNDS counts the named chain only', () => {
    const { code, details } = failure(lend('2', 'base'), state({ arbitrum: 10n ** 9n, base: 1n }))
    expect(code).toBe('INSUFFICIENT_FUNDS')
    expect(details).toMatchObject({ required: '2', available: '0.000001' })
  })

  test('error: INSUFFICIENT_FUNDS does not add up chains', () => {
    const { details } = failure(lend('10'), state({ arbitrum: 6_000_000n, base: 6_000_000n }))
    expect(details).toMatchObject({ required: '10', available: '6' })
  })

  test('error: INVALID_REQUEST when the named chain has no market', () => {
    const market = { ...state({ base: 10n ** 9n }), rates: [rateOf('arbitrum', 1)] }
    const { code, details } = failure(lend('1', 'base'), market)
    expect(code).toBe('INVALID_REQUEST')
    expect(details).toMatchObject({ issues: [{ path: 'chain' }] })
  })

  test('error: INVALID_REQUEST when no chain has a market', () => {
    const market = { ...state({ base: 10n ** 9n }), rates: [] }
    expect(failure(lend('1'), market).code).toBe('INVALID_REQUEST')
  })

  test('error: INSUFFICIENT_FUNDS when the money lies where there is no market', () => {
    const market = { ...state({ base: 10n ** 9n, arbitrum: 0n }), rates: [rateOf('arbitrum', 1)] }
    const { code, details } = failure(lend('1'), market)
    expect(code).toBe('INSUFFICIENT_FUNDS')
    expect(details).toMatchObject({ available: '0' })
  })
})

const names = ['ethereum', 'arbitrum', 'base', 'other']
const units = fc.bigInt({ min: 0n, max: 40_000_000n })
const markets = fc.record({
  decimals: fc.constant(6),
  chains: fc
    .subarray(names)
    .chain((chosen) => fc.tuple(...chosen.map((chain) => units.map((u) => [chain, u] as const))))
    .map((pairs) =>
      pairs.map(([chain, availableUnits]) => ({
        ...{ chain, availableUnits },
        ...{ depositGasUsd: 1, stepSeconds: [1, 5] as [number, number] },
      })),
    ),
  rates: fc.array(
    fc
      .tuple(fc.constantFrom(...names), fc.double({ min: 0, max: 9, noNaN: true }))
      .map(([chain, apy]) => rateOf(chain, apy)),
    { maxLength: 5 },
  ),
})
const requests = fc
  .record({
    amount: fc.bigInt({ min: 1n, max: 40_000_000n }),
    chain: fc.option(fc.constantFrom(...names)),
  })
  .map(({ amount, chain }): IntentRequest => {
    const request = { action: 'lend', asset: 'USDC', amountUnits: amount } as const
    return chain === null ? request : { ...request, chain }
  })

function assertSound(plan: ExecutionPlan, request: IntentRequest, market: MarketState): void {
  const { chains, rates, decimals } = market
  const spent = plan.steps.reduce((sum, step) => sum + toUnits(step.amount, decimals), 0n)
  const target = chains.find(({ chain }) => chain === plan.targetChain)
  expect(spent).toBe(request.amountUnits)
  expect(target?.availableUnits).toBeGreaterThanOrEqual(spent)
  expect(plan.steps.every(({ chain }) => chain === plan.targetChain)).toBe(true)
  if (request.chain) expect(plan.targetChain).toBe(request.chain)
  const rich = chains.filter(({ availableUnits }) => availableUnits >= spent)
  const eligible = rates.filter(
    ({ chain }) =>
      rich.some((one) => one.chain === chain) && (!request.chain || request.chain === chain),
  )
  expect(plan.expectedApy).toBe(Math.max(...eligible.map(({ apyPercent }) => apyPercent)))
}

describe('planIntent, whatever the market', () => {
  test('never spends more than a chain has, and takes the best rate that it can', () => {
    holds(
      fc.property(requests, markets, (request, market) => {
        try {
          assertSound(planIntent(request, market), request, market)
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error
          expect(['INSUFFICIENT_FUNDS', 'INVALID_REQUEST']).toContain(error.code)
        }
      }),
    )
  })

  test('plans whenever a chain with a market has enough', () => {
    holds(
      fc.property(requests, markets, (request, market) => {
        const possible = market.chains.some(
          ({ chain, availableUnits }) =>
            availableUnits >= request.amountUnits &&
            (!request.chain || request.chain === chain) &&
            market.rates.some((rate) => rate.chain === chain),
        )
        if (possible) expect(planIntent(request, market).steps).toHaveLength(1)
        else expect(() => planIntent(request, market)).toThrow(ServiceError)
      }),
    )
  })
})
