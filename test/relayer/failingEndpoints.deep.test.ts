import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { connectChain, type ChainClient } from '../../evm/connect.js'
import { readBlock } from '../../evm/read.js'
import { connect } from '../../db/client/connect.js'
import { listenToOperations } from '../../db/client/listen.js'
import { signerStates, watchQueue } from '../../operations/queue.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { driveChain } from '../../relayer/driveChain.js'
import { runSigner } from '../../signer/sign.js'
import { drawsOf } from '../chaos/draws.js'
import { seededFaults, type FaultRates } from '../support/seededFaults.js'
import {
  actions,
  countExecutions,
  createFullWorld,
  prepareActions,
  type RunningIntent,
} from './world/everyAction.js'
import { startFork, startSecondAddress, type SecondEndpoint } from './world/secondEndpoint.js'
import type { RpcFault } from '../support/faultProxy.js'
import type { World } from './world/fixture.js'

/** A withdrawal has two operations, because it ends with a swap. */
const OPERATIONS_OF_EACH = actions.length + 1
/** More than one round indexes, so that the driver reads their logs by range. */
const BLOCKS_MISSED = 200
const BLOCK_MS = 250
/** Some seconds, so that a transaction that waits for a lower nonce has time. */
const BLOCKS_BETWEEN_CLEARINGS = 20
const LIMIT_MS = 240_000
/** Shorter than usual, so that an unanswered request costs less time, ms. */
const waits = { timeoutMs: 2_000, patienceMs: 500, probeMs: 200 }
const seed = process.env.CHAOS_SEED ?? randomBytes(4).toString('hex')

const perRequest: [RpcFault, number][] = [
  ['http500', 0.02],
  [{ status: 503, retryAfter: '1' }, 0.005],
  [{ status: 429, retryAfter: '1' }, 0.01],
  ['reset', 0.02],
  ['garbage', 0.01],
  [{ delayMs: 400 }, 0.03],
  ['silence', 0.005],
]
const perCall: [RpcFault, number][] = [
  ['stale', 0.005],
  [{ error: { code: -32005, message: 'daily request count exceeded' } }, 0.002],
  [{ error: { code: -32603, message: 'Internal error' } }, 0.002],
]
const rates: FaultRates = { perRequest, perCall, lostReply: 0.15, widest: 31 }

vi.setConfig({ testTimeout: LIMIT_MS + 90_000, hookTimeout: LIMIT_MS + 90_000 })

const faultsOf = (source: string) => seededFaults(drawsOf(seed, source), rates)

/** A connected signer and driver. `run` starts them and returns a function that ends them. */
type Relayer = { run(): () => Promise<unknown> }

describe(`intents of all actions (CHAOS_SEED=${seed})`, () => {
  let world: World
  let other: SecondEndpoint

  afterEach(async () => {
    world?.proxy.set(undefined)
    await other?.stop()
    await world?.stop()
  })

  /** Signer and driver as their processes run them, over both endpoints. */
  async function connectRelayer(): Promise<Relayer> {
    const stopping = new AbortController()
    const { signal } = stopping
    const url = world.database.urlAs('steward_relayer')
    const signerDb = connect(world.database.urlAs('steward_signer'))
    const listener = listenToOperations(url, signal)
    const clients = [0, 1].map(() => {
      const urls = [world.proxy.url, other.proxy.url]
      return connectChain(world.chain, urls, { log: world.log, compareMs: 500, waits })
    })
    const [forSigner, forDriver] = clients as [(typeof clients)[0], (typeof clients)[0]]
    const chains = { list: [forSigner], byId: () => forSigner }
    const signer = { ...world.signer, db: signerDb, chains }
    // Under faults from the start the fork would not be known. Other tests cover that.
    for (const client of clients) await untilCompared(client)
    return {
      run() {
        const running = [
          runSigner(signer, watchQueue(listener, signal, signerStates), signal),
          driveChain({ url, client: forDriver, listener, log: world.log }, signal),
        ]
        return async () => {
          stopping.abort()
          await Promise.allSettled(running)
          await signerDb.destroy()
          for (const client of clients) client.close()
        }
      },
    }
  }

  /** Waits until the client knows the endpoint on a fork, if there is one. */
  async function untilCompared(client: ChainClient): Promise<void> {
    const isCompared = async () => {
      await readBlock(client, 'latest')
      return !other.node || !client.inStep().includes(client.endpoints[1] as ChainClient)
    }
    await world.waitUntil(isCompared)
  }

  async function mineOn(stopping: AbortSignal): Promise<void> {
    for (let blocks = 0; !stopping.aborted; blocks++) {
      await sleep(BLOCK_MS)
      await world.mine()
      if (blocks % BLOCKS_BETWEEN_CLEARINGS === 0) await clearQueue()
      // The fork has different blocks, and more of them.
      if (other.node) await callRpc(other.node.url, 'anvil_mine', ['0x2'])
    }
  }

  /** anvil may keep a transaction queued forever when it arrives while the previous one is mined. Nodes drop it. */
  async function clearQueue(): Promise<void> {
    const { queued } = await world.rpc<{ queued: object }>('txpool_content')
    for (const sender of Object.keys(queued))
      await world.rpc('anvil_removePoolTransactions', [sender])
  }

  const hasEnded = async () => {
    const open = await world.db('operation').whereNotIn('state', ['confirmed', 'final'])
    const all = await world.db('operation').where({ chain_id: world.chain.chainId })
    return open.length === 0 && all.length >= ordered
  }
  let ordered = 0

  async function runAll(relayer: Relayer, intents: RunningIntent[]): Promise<void> {
    const ending = new AbortController()
    const mining = mineOn(ending.signal)
    const end = relayer.run()
    const handInAll = async () => {
      for (const intent of intents) await intent.handIn()
      return hasEnded()
    }
    await world
      .waitUntil(handInAll, LIMIT_MS)
      .catch(printOpen)
      .finally(async () => {
        ending.abort()
        await Promise.all([mining, end()])
      })
  }

  /** Prints the open operations and the last log entries of a failed run. */
  async function printOpen(late: unknown): Promise<never> {
    const open = await world
      .db('operation')
      .whereNotIn('state', ['confirmed', 'final'])
      .select('kind', 'state', 'code', 'message')
    const pool = await world.rpc('txpool_content').catch(() => undefined)
    const logs = world.logs.slice(-20).map(({ message, facts }) => [message, facts])
    const facts = JSON.stringify({ open, pool, logs }, (_key, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
    process.stdout.write(`${facts}\n`)
    throw late
  }

  test.each<[number, string, () => Promise<SecondEndpoint>]>([
    [20, 'both of the same node', () => startSecondAddress(world)],
    [50, 'one of them on a longer fork', () => startFork(world)],
  ])(
    '%d intents over two failing endpoints, %s: each is executed once',
    async (count, _, startOther) => {
      const ofEach = count / actions.length
      world = await createFullWorld()
      const intents = await prepareActions(world, ofEach)
      const prepared = await world.db('operation').where({ chain_id: world.chain.chainId })
      ordered = prepared.length + ofEach * OPERATIONS_OF_EACH
      const from = await world.rpc<string>('eth_blockNumber')
      await world.driver().db.destroy()
      other = await startOther()
      await world.mine(BLOCKS_MISSED)
      if (other.node) await callRpc(other.node.url, 'anvil_mine', ['0x1'])
      const relayer = await connectRelayer()
      world.proxy.set(faultsOf('first'))
      other.proxy.set(faultsOf('second'))
      await runAll(relayer, intents)
      world.proxy.set(undefined)
      other.proxy.set(undefined)

      const counts = JSON.stringify([world.proxy.counts, other.proxy.counts])
      process.stdout.write(`endpoints ${seed}: faults ${counts}\n`)
      const faults = await Promise.all(intents.map((intent) => intent.findFault()))
      expect(faults.filter((fault) => fault !== undefined)).toEqual([])
      expect(await countExecutions(world, `0x${(Number(from) + 1).toString(16)}`)).toEqual({
        userOperations: 4 * ofEach,
        fundings: ofEach,
        mints: ofEach,
      })
      expect(await world.db('operation').where({ success: false })).toEqual([])
      expect(await world.db('operation').where({ state: 'rejected' })).toEqual([])
      expect(world.logs.filter(({ message }) => message.startsWith('reorg'))).toEqual([])
    },
  )
})
