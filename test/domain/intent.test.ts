import { describe, expect, test } from 'vitest'
import {
  isTerminal,
  laterStatus,
  type StepPlan,
  type LifecycleStatus,
} from '../../domain/intent/intent.js'
import { resultsOf, type Effect } from '../../domain/intent/results.js'

const step = (sequence: number) => ({
  ...{ type: 'deposit' as const, sequence, chain: 'base-sepolia', protocol: 'aave-v3' },
  ...{ market: '0x01', asset: 'USDC', amount: '2' },
})
const planOf = (steps: number): StepPlan => ({
  strategy: 'direct-deposit',
  targetChain: 'base-sepolia',
  targetProtocol: 'aave-v3',
  expectedApy: 3.15,
  steps: Array.from({ length: steps }, (_, index) => step(index + 1)),
  estimatedGasUsd: 1,
  estimatedTime: '1-5 seconds',
  reasoning: '',
})
const effect = (changes: Partial<Effect> = {}): Effect => ({
  ...{ sequence: 1, kind: 'deposit', chain: 'base-sepolia', confirmed: true, success: true },
  ...{ txHash: '0xhash', gasUsed: 200_000n, gasCostUsd: 0.1, units: 1_999_999n },
  ...changes,
})

describe('resultsOf', () => {
  test('no effect yet: no completed step, no gas', () => {
    expect(resultsOf(planOf(1), [])).toEqual({
      ...{ completedSteps: 0, transactions: [], totalGasUsed: '0', totalGasCostUsd: 0 },
    })
  })

  test('all steps completed: the amount that the last step moved, not the requested one', () => {
    expect(resultsOf(planOf(1), [effect()])).toEqual({
      completedSteps: 1,
      transactions: [
        {
          ...{ type: 'deposit', step: 1, txHash: '0xhash', chain: 'base-sepolia' },
          ...{ gasUsed: '200000', gasCostUsd: 0.1 },
        },
      ],
      totalGasUsed: '200000',
      totalGasCostUsd: 0.1,
      finalAmount: '1.999999',
      apy: 3.15,
    })
  })

  test('a mined step counts once confirmed, its gas at once', () => {
    const results = resultsOf(planOf(1), [effect({ confirmed: false })])
    expect(results).toMatchObject({ completedSteps: 0, totalGasUsed: '200000' })
    expect(results).not.toHaveProperty('finalAmount')
  })

  test('a failed step is not completed', () => {
    const results = resultsOf(planOf(1), [effect({ success: false })])
    expect(results.completedSteps).toBe(0)
    expect(results).not.toHaveProperty('finalAmount')
  })

  test('one of two steps completed: no final amount', () => {
    const results = resultsOf(planOf(2), [effect()])
    expect(results.completedSteps).toBe(1)
    expect(results).not.toHaveProperty('finalAmount')
  })

  test('sums dollars without float errors', () => {
    const effects = [1, 2, 3].map((sequence) => effect({ sequence, gasCostUsd: 0.1 }))
    expect(resultsOf(planOf(3), effects).totalGasCostUsd).toBe(0.3)
  })

  test('two effects of one step are one completed step', () => {
    expect(resultsOf(planOf(2), [effect(), effect({ kind: 'fund' })]).completedSteps).toBe(1)
  })
})

const order: LifecycleStatus[] = ['pending', 'planning', 'executing', 'completed']

describe('laterStatus', () => {
  test('returns the later one, in either order', () => {
    for (const [i, a] of order.entries()) {
      for (const [j, b] of order.entries()) expect(laterStatus(a, b)).toBe(order[Math.max(i, j)])
    }
  })

  test('an end remains the same end', () => {
    expect(laterStatus('failed', 'completed')).toBe('failed')
    expect(laterStatus('completed', 'failed')).toBe('completed')
    expect(laterStatus('failed', 'executing')).toBe('failed')
  })
})

describe('isTerminal', () => {
  test('completed and failed only', () => {
    expect([...order, 'failed' as const].filter(isTerminal)).toEqual(['completed', 'failed'])
  })
})
