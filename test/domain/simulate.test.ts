import { describe, expect, test } from 'vitest'
import { networks } from '../../evm/registry.js'
import { acceptFault, assertFaultPossible, faultIn, isFaultOf } from '../../domain/simulate.js'
import type { StepPlan, PlanStep } from '../../domain/intent/intent.js'

const refusal = (message: string) =>
  expect.objectContaining({
    code: 'INVALID_REQUEST',
    details: { issues: [{ path: 'metadata.simulate', message: expect.stringContaining(message) }] },
  }) as Error

describe('acceptFault', () => {
  test.each(['devnet', 'testnet'])('%s: returns the requested failure', (network) => {
    expect(acceptFault({ simulate: 'BRIDGE_FAILED', tier: 1 }, network)).toBe('BRIDGE_FAILED')
  })

  test.each(['mainnet', 'Testnet', 'devnet ', ''])('error: %j is not a test network', (network) => {
    for (const simulate of ['BRIDGE_FAILED', 'anything', null]) {
      expect(() => acceptFault({ simulate }, network)).toThrow(refusal('test networks only'))
    }
  })

  test('a new network in the registry allows no simulation by default', () => {
    const open = networks.filter((network) => {
      try {
        return acceptFault({ simulate: 'RPC_ERROR' }, network) === 'RPC_ERROR'
      } catch {
        return false
      }
    })
    expect(open).toEqual(['devnet', 'testnet'])
  })

  test('returns undefined without a request, on every network', () => {
    for (const network of [...networks, 'mainnet']) {
      expect(acceptFault({ tier: 1 }, network)).toBeUndefined()
      expect(acceptFault(undefined, network)).toBeUndefined()
    }
  })
})

describe('faultIn', () => {
  test.each(['bridge_failed', 'INTERNAL', 'toString', '', 1, null, {}])(
    'error: %j is not a failure',
    (simulate) => {
      expect(() => faultIn({ simulate })).toThrow(refusal('must be one of BRIDGE_FAILED'))
    },
  )
})

const step = (type: PlanStep['type'], sequence: number) => ({ type, sequence })
const planOf = (...types: PlanStep['type'][]) =>
  ({ steps: types.map((type, i) => step(type, i + 1)) }) as StepPlan

describe('assertFaultPossible', () => {
  test('error: a failure of a step that the plan does not have', () => {
    const plan = planOf('bridge', 'deposit')
    expect(() => assertFaultPossible('SWAP_FAILED', plan)).toThrow(refusal('no swap step'))
    for (const fault of ['BRIDGE_TIMEOUT', 'DEPOSIT_FAILED', 'NETWORK_ERROR'] as const) {
      expect(() => assertFaultPossible(fault, plan)).not.toThrow()
    }
  })
})

describe('isFaultOf', () => {
  test('a failure of a step type belongs to that step, a network failure to the first step', () => {
    expect(isFaultOf('DEPOSIT_FAILED', step('deposit', 2))).toBe(true)
    expect(isFaultOf('DEPOSIT_FAILED', step('bridge', 1))).toBe(false)
    expect(isFaultOf('RPC_ERROR', step('bridge', 1))).toBe(true)
    expect(isFaultOf('RPC_ERROR', step('deposit', 2))).toBe(false)
  })

  test('a bridge transfer is late, it does not fail', () => {
    expect(isFaultOf('BRIDGE_TIMEOUT', step('bridge', 1))).toBe(false)
  })
})
