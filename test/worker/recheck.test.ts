import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { toQuantity } from 'ethers'
import { connectChain, type ChainClient } from '../../evm/connect.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { findRechecked } from '../../operations/finalResults.js'
import { resumeWork, readPauses } from '../../db/pauses.js'
import { recheckChain } from '../../worker/recheck.js'
import { createWorld, usdcUnits, type Lend, type World } from '../relayer/world/fixture.js'
import {
  stuckAtHead,
  startFork,
  startSecondAddress,
  type SecondEndpoint,
} from '../relayer/world/secondEndpoint.js'
import type { Decide } from '../support/faultProxy.js'

/** Enough blocks for finality. */
const MANY = 40

let world: World
let other: SecondEndpoint
let client: ChainClient

beforeAll(async () => {
  world = await createWorld({ senderCount: 1 })
  await world.mine(MANY)
  await world.index()
})
beforeEach(() => {
  world.logs.length = 0
})
afterEach(async () => {
  client?.close()
  await other?.stop()
})
afterAll(() => world?.stop())

function connectBoth(): void {
  const waits = { probeMs: 50 }
  client = connectChain(world.chain, [world.proxy.url, other.proxy.url], { compareMs: 50, waits })
}
const recheck = () => recheckChain({ db: world.workerDb, log: world.log, againMs: 10 }, client)
const rechecked = () => findRechecked(world.workerDb, world.chain.chainId)
const pauses = () => readPauses(world.db)

/** A lend whose result is final since the last recheck. */
async function lendFinally(): Promise<Lend> {
  await recheck()
  const lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
  await world.round()
  await world.mine(MANY)
  await world.index()
  expect(await world.row(lend.operationId)).toMatchObject({ state: 'final', success: true })
  return lend
}

/** The chain is paused for this operation, once, by the worker, and an operator resumes it. */
async function expectPaused({ operationId }: Lend, contradiction: RegExp): Promise<void> {
  const subject = String(world.chain.chainId)
  expect(await pauses()).toMatchObject([{ scope: 'chain', subject, isAutomatic: true }])
  const [event] = await world.db('audit_event').orderBy('id', 'desc').limit(1)
  expect(event).toMatchObject({ actor: 'the worker', action: 'chain pause', subject })
  expect((event as { why: string }).why).toContain(operationId)
  expect((event as { why: string }).why).toMatch(contradiction)
  const alarms = world.logs.filter(({ level }) => level === 'error')
  expect(alarms).toMatchObject([
    { message: 'result contradicted, chain paused', facts: { operation: operationId } },
  ])
  await recheck()
  expect(await pauses()).toHaveLength(1)
  await resumeWork(world.db, { scope: 'chain', subject }, { by: 'alice', why: 'investigated' })
}

/** The other endpoint answers a receipt with these changes of each log. */
function forgeReceipts(change: (log: { data: string; topics: string[] }) => object): Decide {
  return async ({ method, params }) => {
    if (method !== 'eth_getTransactionReceipt') return undefined
    const receipt = await world.rpc<{ logs: { data: string; topics: string[] }[] }>(method, params)
    const logs = receipt.logs.map((log) => ({ ...log, ...change(log) }))
    return { answer: { ...receipt, logs } }
  }
}

describe('recheckChain', () => {
  test('an endpoint that agrees pauses nothing, and its block is stored', async () => {
    other = await startSecondAddress(world)
    connectBoth()
    await lendFinally()
    const before = await rechecked()
    await recheck()
    expect(other.proxy.asked.eth_getTransactionReceipt).toBe(1)
    expect(await rechecked()).toBeGreaterThan(before ?? 0n)
    await recheck()
    expect(other.proxy.asked.eth_getTransactionReceipt).toBe(1)
    expect([await pauses(), world.logs.filter(({ level }) => level === 'error')]).toEqual([[], []])
  })

  test('a result in a block that is another one at the other endpoint pauses the chain', async () => {
    other = await startFork(world)
    connectBoth()
    const lend = await lendFinally()
    await callRpc(other.node?.url ?? '', 'anvil_mine', [toQuantity(2 * MANY)])
    await recheck()
    await expectPaused(lend, /block \d+ is another one/)
  })

  test('a result that another endpoint states differently pauses the chain', async () => {
    other = await startSecondAddress(world)
    connectBoth()
    const lend = await lendFinally()
    // The amount of each log.
    other.proxy.set(forgeReceipts(({ data }) => ({ data: data.replace(/f4240/g, 'f4241') })))
    await recheck()
    await expectPaused(lend, /its log states another result/)
  })

  test('a transaction that is missing in the block of the other endpoint pauses the chain', async () => {
    other = await startSecondAddress(world)
    connectBoth()
    const lend = await lendFinally()
    const { tx_hash: hash } = (await world.row(lend.operationId)) ?? {}
    other.proxy.set(async ({ method, params }) => {
      if (method === 'eth_getTransactionReceipt') return { answer: null }
      if (method !== 'eth_getBlockByNumber') return undefined
      const block = await world.rpc<{ transactions: string[] } | null>(method, params)
      const transactions = block?.transactions.filter((one) => one !== hash)
      return block ? { answer: { ...block, transactions } } : undefined
    })
    await recheck()
    await expectPaused(lend, /its block has no such transaction/)
  })

  test.each<[string, () => Promise<Decide>]>([
    ['is behind', () => stuckAtHead(world)],
    ['fails', () => Promise.resolve(() => 'http500')],
    [
      'has not indexed the transaction',
      () =>
        Promise.resolve(({ method }) =>
          method === 'eth_getTransactionReceipt' ? { answer: null } : undefined,
        ),
    ],
    [
      'refuses receipts',
      () =>
        Promise.resolve(({ method }) =>
          method === 'eth_getTransactionReceipt'
            ? { error: { code: -32_000, message: 'pruned' } }
            : undefined,
        ),
    ],
  ])('an endpoint that %s contradicts nothing', async (_, rule) => {
    other = await startSecondAddress(world)
    connectBoth()
    await recheck()
    const decide = await rule()
    await lendFinally()
    other.proxy.set(decide)
    await recheck().catch(() => undefined)
    expect([await pauses(), world.logs.filter(({ level }) => level === 'error')]).toEqual([[], []])
  })
})

describe('pause_contradicted', () => {
  test('is all that a worker may do to pauses: a chain, once, with an audit event', async () => {
    const { workerDb } = world
    const pause = (chain: number) =>
      workerDb.raw('select pause_contradicted(?, ?)', [chain, 'test'])
    await pause(1)
    expect(await pauses()).toEqual([])
    await Promise.all([pause(world.chain.chainId), pause(world.chain.chainId)])
    expect(await pauses()).toHaveLength(1)
    expect(await world.db('audit_event').where({ why: 'test' })).toHaveLength(1)
    for (const statement of [
      `update pause set until = now(), ended_by = begun_by`,
      `delete from pause`,
      `insert into pause (scope, subject, begun_by) values ('deployment', '', 1)`,
      `insert into audit_event (actor, action, subject, why) values ('a', 'b', 'c', 'd')`,
    ]) {
      await expect(workerDb.raw(statement)).rejects.toThrow('permission denied')
    }
  })
})
