import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startExecutionWorld, type ExecutionWorld } from './executionWorld.js'
import type { ApiResponse } from '../../api.js'
import type { Fault } from '../../../support/faultProxy.js'

let world: ExecutionWorld
let walletId: string

beforeAll(async () => {
  world = await startExecutionWorld()
  walletId = (await world.newWallet(20_000_000n)).id
})
afterAll(() => world?.stop())

const lend = (more: object = {}) => world.lend(walletId, 1, more)
const read = ({ body }: ApiResponse) => world.read(body.id)

describe('Intent status', () => {
  test('pending: created, waiting for processing', async () => {
    const intent = await lend({ chain: 'base' })
    expect([intent.status, intent.body.status]).toEqual([201, 'pending'])
    expect(await read(intent)).toMatchObject({ status: 'pending' })
  })

  test('planning: a newly created intent is returned with this status', async () => {
    const intent = await lend()
    expect([intent.status, intent.body.status]).toEqual([201, 'planning'])
    expect(await read(intent)).toMatchObject({ status: 'planning' })
  })

  test('executing: transactions are being executed', async () => {
    const intent = await lend()
    await world.submit(intent)
    expect(await read(intent)).toMatchObject({ status: 'executing' })
  })

  test('executing: `results.completedSteps` advances', async () => {
    const intent = await lend()
    await world.submit(intent)
    expect(await read(intent)).toMatchObject({ results: { completedSteps: 0 } })
    await world.chainWorld.round()
    const after = { status: 'executing', results: { completedSteps: 1 } }
    expect(await read(intent)).toMatchObject(after)
  })

  test('completed: finished successfully; `results` and `completedAt` are present', async () => {
    const intent = await lend()
    await world.execute(intent)
    const end = { status: 'completed', results: expect.any(Object) }
    expect(await read(intent)).toMatchObject({ ...end, completedAt: expect.any(String) })
  })

  test('failed: error during execution; `error` is present', async () => {
    const intent = await lend()
    await world.executeInVain(intent)
    const error = { message: expect.any(String) }
    expect(await read(intent)).toMatchObject({ status: 'failed', error })
  })

  test.each([
    ['completed', 'execute'],
    ['failed', 'executeInVain'],
  ] as const)('clients may stop polling at %s: nothing changes any more', async (status, run) => {
    const intent = await lend()
    await world[run](intent)
    const end = await read(intent)
    await world.finish(intent)
    world.temporal.progress.set(intent.body.id, { status: 'executing', completedSteps: 0 })
    expect(end).toMatchObject({ status })
    expect(await read(intent)).toEqual(end)
  })
})

describe('Intent failure reasons', () => {
  test('DEPOSIT_FAILED: funds remain in the destination wallet', async () => {
    const wallet = await world.newWallet(1_000_000n)
    const intent = await world.lend(wallet.id, 1)
    await world.executeInVain(intent)
    expect(await read(intent)).toMatchObject({ error: { code: 'DEPOSIT_FAILED' } })
    expect(await world.chainWorld.usdcOf(wallet.address)).toBe(1_000_000n)
  })

  test.each<[string, string, Fault]>([
    ['NETWORK_ERROR', 'the connections to the chain break', 'reset'],
    ['RPC_ERROR', 'the node of the chain fails', 'http500'],
  ])(
    '%s is transient: while %s the intent waits, then it completes',
    async (_code, _when, fault) => {
      const intent = await lend()
      await world.submit(intent)
      world.chainWorld.proxy.set(() => fault)
      await world.chainWorld.sign().catch(() => undefined)
      expect(await read(intent)).toMatchObject({ status: 'executing' })
      world.chainWorld.proxy.set(undefined)
      await world.resume(intent)
      expect(await read(intent)).toMatchObject({ status: 'completed' })
    },
  )
})
