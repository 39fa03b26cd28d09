import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startExecutionWorld, type ExecutionWorld } from '../intents/executionWorld.js'
import { withoutProgress } from '../../endpoints/intents/begun.js'
import type { Answer } from '../../api.js'

let world: ExecutionWorld
let walletId: string

beforeAll(async () => {
  world = await startExecutionWorld()
  walletId = (await world.newWallet(10_000_000n)).id
})
afterAll(() => world?.stop())

const get = ({ body }: Answer) => world.get(`/v1/intents/${body.id}`)

describe('GET /intents/:intentId', () => {
  test('path parameter: `intentId` (string), the id of an intent', async () => {
    const intent = await world.lend(walletId, 1)
    expect((await get(intent)).body.id).toBe(intent.body.id)
  })

  test('path parameter: an id without an intent is 404', async () => {
    expect((await world.get('/v1/intents/intent_none')).status).toBe(404)
  })

  test('response 200: the intent resource with its current `status`', async () => {
    const intent = await world.lend(walletId, 1)
    expect(await get(intent)).toMatchObject({ status: 200, body: { status: 'planning' } })
    await world.submit(intent)
    expect(await get(intent)).toMatchObject({ status: 200, body: { status: 'executing' } })
  })

  test('response 200: the current `executionPlan` and `results`', async () => {
    const intent = await world.lend(walletId, 1)
    await world.execute(intent)
    const executionPlan = withoutProgress(intent.body.executionPlan)
    const results = { completedSteps: 1, finalAmount: '1' }
    expect(await get(intent)).toMatchObject({ status: 200, body: { executionPlan, results } })
  })

  test('response 200: `error` when failed', async () => {
    const intent = await world.lend(walletId, 1)
    await world.executeInVain(intent)
    const error = { message: expect.any(String) }
    expect(await get(intent)).toMatchObject({ status: 200, body: { status: 'failed', error } })
  })
})
