import { describe, expect, test } from 'vitest'
import { planIntent } from '../../../domain/plan/planIntent.js'
import { chainOf, failureOf, routeOf, stateOf, units } from './markets.js'
import type { BridgeRequest } from '../../../domain/intent/intent.js'

const bridge = (amount: string, toChain = 'arbitrum'): BridgeRequest => ({
  ...{ action: 'bridge', asset: 'USDC', amountUnits: units(amount) },
  ...{ fromChain: 'base', toChain },
})
const state = stateOf({
  chains: [chainOf('base', '10'), chainOf('arbitrum', '50'), chainOf('ethereum', '0')],
  routes: [routeOf('base', 'arbitrum', { maxUnits: units('20') })],
})

describe('planIntent, bridge', () => {
  test('moves the whole balance of the chain for the fee of the route', () => {
    expect(planIntent(bridge('10'), state)).toEqual({
      strategy: 'direct-bridge',
      targetChain: 'arbitrum',
      steps: [
        {
          ...{ type: 'bridge', sequence: 1, from: 'base', to: 'arbitrum', protocol: 'cctp' },
          ...{ asset: 'USDC', amount: '10', arrives: '9.999', maxFee: '0.0012', speed: 'fast' },
        },
      ],
      estimatedGasUsd: 0.24,
      estimatedTime: '10-30 seconds',
      reasoning:
        'A fast transfer from base to arbitrum for a bridge fee of 0.001 USDC; 9.999 USDC arrive.',
    })
  })

  test.each([
    [{ seconds: [8, 110] }, '10-120 seconds'],
    [{ seconds: [8, 111] }, '1-3 minutes'],
    [{ seconds: [838, 1190] }, '14-20 minutes'],
  ] as const)(
    'formats %j and the steps at both ends as %s',
    ({ seconds: [lower, upper] }, text) => {
      const routes = [routeOf('base', 'arbitrum', { seconds: [lower, upper] })]
      expect(planIntent(bridge('10'), { ...state, routes }).estimatedTime).toBe(text)
    },
  )

  test('error: INSUFFICIENT_FUNDS when one base unit is missing, with the balances of all chains', () => {
    const { code, message, details } = failureOf(bridge('10.000001'), state)
    expect(code).toBe('INSUFFICIENT_FUNDS')
    expect(message).toBe('The intent needs 10.000001 USDC on base. 10 is available.')
    expect(details).toEqual({
      required: '10.000001',
      available: '10',
      funds: [
        { chain: 'base', asset: 'USDC', amount: '10' },
        { chain: 'arbitrum', asset: 'USDC', amount: '50' },
        { chain: 'ethereum', asset: 'USDC', amount: '0' },
      ],
    })
  })

  test('error: INVALID_REQUEST, no_route, without a bridge to the chain', () => {
    const { code, message, details } = failureOf(bridge('1', 'ethereum'), state)
    expect(code).toBe('INVALID_REQUEST')
    expect(message).toBe('The amount cannot be bridged: there is no bridge from base to ethereum.')
    expect(details).toMatchObject({ reason: 'no_route', issues: [{ path: 'toChain' }] })
  })

  test('error: INVALID_REQUEST, above_maximum, for more than one transfer can move', () => {
    const { code, message, details } = failureOf(bridge('20.000001'), state)
    expect(code).toBe('INVALID_REQUEST')
    expect(message).toContain('the bridge from base to arbitrum moves at most 20 USDC at once')
    expect(details).toMatchObject({ reason: 'above_maximum', issues: [{ path: 'amount' }] })
  })

  test('error: INVALID_REQUEST, above_fee_limit, when every route costs more than the limit', () => {
    const routes = [routeOf('base', 'arbitrum', { feeMillionths: 500_000n })]
    const { code, message, details } = failureOf(bridge('10'), { ...state, routes })
    expect(code).toBe('INVALID_REQUEST')
    expect(message).toContain('takes a fee of 5 USDC, above the limit of 0.02 USDC.')
    expect(details).toMatchObject({ reason: 'above_fee_limit', issues: [{ path: 'amount' }] })
  })

  test('error: INVALID_REQUEST, below_fee, when the fee would leave nothing', () => {
    const { code, message, details } = failureOf(bridge('0.000001'), state)
    expect(code).toBe('INVALID_REQUEST')
    expect(message).toContain('takes a fee of 0.000001 USDC, which leaves nothing')
    expect(details).toMatchObject({ reason: 'below_fee', issues: [{ path: 'amount' }] })
  })
})
