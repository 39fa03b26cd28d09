import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startExecutionWorld, type ExecutionWorld } from './executionWorld.js'
import { decimalText, integerText, intentId, isoUtc, txHash } from '../formats.js'
import type { WalletBody } from '../../chainWorld.js'

type PolledIntent = Awaited<ReturnType<ExecutionWorld['read']>>
type GasCost = { gasUsed: string; gasCostUsd: number }
type ResultsBody = { transactions: GasCost[]; totalGasUsed: string; totalGasCostUsd: number }

let world: ExecutionWorld
let wallet: WalletBody
let pending: PolledIntent
let planned: PolledIntent
let executing: PolledIntent
let completed: PolledIntent
let failed: PolledIntent

/** Intents of one wallet, each read when it is in its state; the one of 1.5 USDC in three of them. */
beforeAll(async () => {
  world = await startExecutionWorld()
  wallet = await world.newWallet(5_000_000n)
  pending = (await world.lend(wallet.id, 1, { chain: 'base' })).body
  const lend = await world.lend(wallet.id, 1.5)
  planned = lend.body
  await world.submit(lend)
  executing = await world.read(planned.id)
  await world.chainWorld.round()
  await world.finish(lend)
  completed = await world.read(planned.id)
  const vain = await world.lend(wallet.id, 2)
  await world.executeInVain(vain)
  failed = await world.read(vain.body.id)
})
afterAll(() => world?.stop())

/** The plan without the progress of its steps. */
function planOf({ executionPlan }: PolledIntent): unknown {
  const { steps, ...plan } = executionPlan as { steps: Record<string, unknown>[] }
  const progress = ['status', 'startedAt', 'endedAt', 'txHash', 'waitingFor', 'operations']
  const planned = steps.map((step) => {
    return Object.fromEntries(Object.entries(step).filter(([name]) => !progress.includes(name)))
  })
  return { ...plan, steps: planned }
}

describe('Intent', () => {
  test('id: a string with the prefix intent_ and an opaque suffix', () => {
    expect(planned.id).toMatch(intentId)
    expect(completed.id).toBe(planned.id)
  })

  test('walletId: the owning wallet', () => {
    expect(planned.walletId).toBe(wallet.id)
  })

  test('status: a string, one of the states', () => {
    const statuses = [pending, planned, executing, completed, failed].map(({ status }) => status)
    expect(statuses).toEqual(['pending', 'planning', 'executing', 'completed', 'failed'])
  })

  test('action: a string, as requested', () => {
    expect(planned.action).toBe('lend')
  })

  test('amount: a number in token units', () => {
    expect([planned.amount, completed.amount]).toEqual([1.5, 1.5])
  })

  test('asset: a string, the token symbol', () => {
    expect(planned.asset).toBe('USDC')
  })

  test('executionPlan: an object, present once planned', () => {
    expect(pending).not.toHaveProperty('executionPlan')
    for (const intent of [planned, executing, completed, failed]) {
      expect(intent.executionPlan).toEqual(expect.any(Object))
    }
    expect(planOf(completed)).toEqual(planOf(planned))
  })

  test('results: an object, present while executing and after completion', () => {
    for (const intent of [pending, planned]) expect(intent).not.toHaveProperty('results')
    for (const intent of [executing, completed]) expect(intent.results).toEqual(expect.any(Object))
  })

  test('error: an object, present on failure', () => {
    expect(failed.error).toEqual(expect.any(Object))
    for (const intent of [pending, planned, executing, completed]) {
      expect(intent).not.toHaveProperty('error')
    }
  })

  test('error: includes a `message` (string), and a `code`', () => {
    expect(failed.error).toMatchObject({ message: expect.any(String), code: expect.any(String) })
  })

  test('createdAt: a constant ISO 8601 UTC timestamp', () => {
    expect(planned.createdAt).toMatch(isoUtc)
    expect(completed.createdAt).toBe(planned.createdAt)
  })

  test('completedAt: an ISO 8601 UTC timestamp, present on completed intents only', () => {
    expect(completed.completedAt).toMatch(isoUtc)
    expect(String(completed.completedAt) >= String(completed.createdAt)).toBe(true)
    for (const intent of [pending, planned, executing, failed]) {
      expect(intent).not.toHaveProperty('completedAt')
    }
  })
})

describe('executionPlan', () => {
  test.each([
    ['strategy', 'a string: `direct-deposit`', 'direct-deposit'],
    ['targetChain', 'a string, the chain chosen for the deposit', 'arbitrum-sepolia'],
    ['targetProtocol', 'a string, the lending protocol chosen', 'aave-v3'],
    ['expectedApy', 'a number in percent', expect.closeTo(3.51, 1)],
    ['estimatedGasUsd', 'a number, an estimate in USD', expect.any(Number)],
    ['estimatedTime', 'a string, a human-readable range', expect.stringMatching(/^\d+-\d+ \w+$/)],
    ['reasoning', 'a string that explains the choice', expect.stringContaining('3.51 %')],
  ])('%s: %s', (field, _title, value) => {
    expect(planned.executionPlan).toHaveProperty(field, value)
  })

  test('steps: an array of ordered steps', () => {
    expect(planned.executionPlan).toHaveProperty('steps', [expect.any(Object)])
  })

  test.each([
    ['type', 'a string: `deposit`', 'deposit'],
    ['sequence', 'a number, starting at 1', 1],
    ['chain', 'the chain of the deposit', 'arbitrum-sepolia'],
    ['protocol', 'the protocol of the deposit', 'aave-v3'],
    ['asset', 'the token symbol', 'USDC'],
    ['amount', 'decimal text, all that was asked for when nothing is bridged', '1.5'],
  ])('step, %s: %s', (field, _title, value) => {
    expect(planned.executionPlan).toHaveProperty(`steps.0.${field}`, value)
  })

  test('step, from and to: not on a deposit', () => {
    for (const field of ['from', 'to']) {
      expect(planned.executionPlan).not.toHaveProperty(`steps.0.${field}`)
    }
  })
})

describe('results', () => {
  const sum = (field: keyof GasCost) => {
    const { transactions } = completed.results as ResultsBody
    return transactions.reduce((total, cost) => total + Number(cost[field]), 0)
  }

  test('completedSteps: a number, the count of finished steps', () => {
    expect(executing.results).toHaveProperty('completedSteps', 0)
    expect(completed.results).toHaveProperty('completedSteps', 1)
  })

  test('transactions: an array, one entry per transaction', () => {
    expect(executing.results).toHaveProperty('transactions', [])
    expect(completed.results).toHaveProperty('transactions', [expect.any(Object)])
  })

  test.each([
    ['type', 'the type of the step', 'deposit'],
    ['txHash', 'the hash of a transaction on that chain', expect.stringMatching(txHash)],
    ['chain', 'the name of the chain', 'arbitrum-sepolia'],
    ['gasUsed', 'gas units, a string', expect.stringMatching(integerText)],
    ['gasCostUsd', 'a number', expect.any(Number)],
  ])('transaction, %s: %s', (field, _title, value) => {
    expect(completed.results).toHaveProperty(`transactions.0.${field}`, value)
  })

  test('totalGasUsed: a string, the sum of gas units', () => {
    expect(completed.results).toHaveProperty('totalGasUsed', String(sum('gasUsed')))
  })

  test('totalGasCostUsd: a number, the sum of gas cost in USD', () => {
    expect(completed.results).toHaveProperty('totalGasCostUsd', sum('gasCostUsd'))
    expect(sum('gasCostUsd')).toBeGreaterThan(0)
  })

  test('finalAmount: decimal text, the amount lent on the chain', async () => {
    expect(completed.results).toMatchObject({ finalAmount: expect.stringMatching(decimalText) })
    expect(completed.results).toHaveProperty('finalAmount', '1.5')
    // The market rounds in its own favour, and pays interest from the next second on.
    const lent = await world.chainWorld.deposited(wallet.address)
    expect(lent).toBeGreaterThanOrEqual(1_499_999n)
    expect(lent).toBeLessThan(1_501_000n)
  })

  test('apy: a number in percent, of a lend', () => {
    expect(completed.results).toHaveProperty('apy', expect.closeTo(3.51, 1))
  })
})
