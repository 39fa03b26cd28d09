import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertTestIntent, insertTestOperation, type TestWallet } from '../../../db/rows.js'
import { withoutId, type ApiWorld } from '../../api.js'
import { startStoredWorld } from './storedWorld.js'
import type { LifecycleStatus, Progress } from '../../../../domain/intent/intent.js'

const txHash = `0x${'a'.repeat(64)}`

let world: ApiWorld
let wallet: TestWallet
let key: string

beforeAll(async () => {
  const stored = await startStoredWorld()
  world = stored.world
  wallet = stored.wallet
  key = stored.key
})
afterAll(() => world.stop())

const get = (id: string, as = key) => world.api.call('GET', `/v1/intents/${id}`, { key: as })
const insert = (status: LifecycleStatus, values = {}) =>
  insertTestIntent(world.database.db, wallet, status, values)
const inBlock = (state: string, success = true) => ({
  ...{ state, success, tx_hash: txHash, block_number: 5, block_hash: '0xblock', log_index: 0 },
  ...{ gas_used: '210000', gas_cost_usd: '0.630000', units: '999999' },
})
const operation = (intentId: string, values: object) =>
  insertTestOperation(world.database.db, wallet, intentId, { ...values })
const setProgress = (id: string, progress: Progress) => world.temporal.progress.set(id, progress)

describe('GET /v1/intents/:intentId', () => {
  test('pending: no plan, no results', async () => {
    const id = await insert('pending')
    const { status, body } = await get(id)
    expect(status).toBe(200)
    expect(body).toEqual({
      ...{ id, walletId: wallet.id, status: 'pending', action: 'lend', amount: 1, asset: 'USDC' },
      ...{ userId: 'user', requestId: 'req_test' },
      waitingFor: { code: 'CHAIN_SILENT', message: expect.any(String), since: body.createdAt },
      ...{ actions: ['cancel'], createdAt: expect.any(String), updatedAt: body.createdAt },
    })
  })

  test('planning: the plan without internal fields, and no results', async () => {
    const { body } = await get(await insert('planning'))
    expect(body).toMatchObject({ status: 'planning', executionPlan: { steps: [{ sequence: 1 }] } })
    expect(body).not.toHaveProperty('results')
    expect(JSON.stringify(body)).not.toContain('market')
  })

  test('executing: results with no step yet', async () => {
    const { body } = await get(await insert('executing'))
    expect(body).toMatchObject({
      status: 'executing',
      results: { completedSteps: 0, transactions: [], totalGasUsed: '0', totalGasCostUsd: 0 },
    })
    expect(body).not.toHaveProperty('completedAt')
  })

  test('executing: a mined transaction is shown before it counts as a step', async () => {
    const id = await insert('executing')
    await operation(id, inBlock('mined'))
    const { body } = await get(id)
    expect(body.results).toMatchObject({ completedSteps: 0, transactions: [{ txHash }] })
  })

  test('completed: results, final amount and the time of completion', async () => {
    const id = await insert('completed')
    await operation(id, inBlock('confirmed'))
    const { body } = await get(id)
    expect(body).toMatchObject({
      status: 'completed',
      completedAt: expect.stringMatching(/Z$/),
      results: {
        completedSteps: 1,
        transactions: [
          {
            ...{ type: 'deposit', txHash, chain: 'arbitrum-sepolia' },
            ...{ gasUsed: '210000', gasCostUsd: 0.63 },
          },
        ],
        ...{ totalGasUsed: '210000', totalGasCostUsd: 0.63, finalAmount: '0.999999', apy: 3.51 },
      },
    })
    expect(body).not.toHaveProperty('error')
  })

  test('failed: the error, and the transaction that failed', async () => {
    const funds = [{ chain: 'arbitrum-sepolia', asset: 'USDC', amount: '1' }]
    const error = { code: 'DEPOSIT_FAILED', message: 'The call failed.', step: 1, funds }
    const id = await insert('failed', { error })
    await operation(id, inBlock('final', false))
    const { body } = await get(id)
    expect(body).toMatchObject({ status: 'failed', error, results: { completedSteps: 0 } })
    expect(body).not.toHaveProperty('completedAt')
    expect(body.results).not.toHaveProperty('finalAmount')
  })

  test('failed before it was planned: no plan, no results', async () => {
    const error = { code: 'INSUFFICIENT_FUNDS', message: 'Too little.' }
    const { body } = await get(await insert('failed', { plan: null, error }))
    expect(body).toMatchObject({ status: 'failed', error })
    expect(body).not.toHaveProperty('results')
  })

  test('a running workflow raises the status and the count of steps', async () => {
    const id = await insert('planning')
    setProgress(id, { status: 'executing', completedSteps: 1 })
    expect((await get(id)).body).toMatchObject({
      status: 'executing',
      results: { completedSteps: 1 },
    })
  })

  test('a running workflow reports the current step', async () => {
    const id = await insert('executing')
    setProgress(id, { status: 'executing', completedSteps: 1, currentStep: 2 })
    expect((await get(id)).body).toMatchObject({ currentStep: 2 })
  })

  test('a running workflow lowers no field', async () => {
    const id = await insert('executing')
    await operation(id, inBlock('confirmed'))
    setProgress(id, { status: 'planning', completedSteps: 0 })
    expect((await get(id)).body).toMatchObject({
      status: 'executing',
      results: { completedSteps: 1 },
    })
  })

  test('a workflow never reports the end: only the row does', async () => {
    const id = await insert('executing')
    setProgress(id, { status: 'completed', completedSteps: 1 })
    const { body } = await get(id)
    expect(body).toMatchObject({ status: 'executing', results: { completedSteps: 0 } })
    expect(body).not.toHaveProperty('completedAt')
  })

  test('a status comes with its plan: without one the row stands', async () => {
    const id = await insert('pending')
    setProgress(id, { status: 'executing', completedSteps: 0 })
    expect((await get(id)).body).toMatchObject({ status: 'pending' })
  })

  test('a workflow is not queried for a finished intent', async () => {
    const id = await insert('failed')
    setProgress(id, { status: 'executing', completedSteps: 1 })
    expect((await get(id)).body).toMatchObject({ status: 'failed' })
  })

  test('error: INTENT_NOT_FOUND alike for an unknown intent and for one of another account', async () => {
    const id = await insert('planning')
    const stranger = await world.newKey()
    const [theirs, unknown] = [await get(id, stranger), await get('intent_x', stranger)]
    expect([theirs.status, theirs.body.error]).toEqual([404, 'INTENT_NOT_FOUND'])
    expect(withoutId(theirs)).toBe(withoutId(unknown))
  })
})
