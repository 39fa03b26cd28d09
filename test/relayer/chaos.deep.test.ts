import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Transaction } from 'ethers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { connect } from '../../db/client/connect.js'
import { listenToOperations } from '../../db/client/listen.js'
import { driveChain } from '../../relayer/driveChain.js'
import { watchQueue } from '../../operations/queue.js'
import { runSigner } from '../../signer/sign.js'
import { drawsOf } from '../chaos/draws.js'
import type { Decide, RpcFault } from '../support/faultProxy.js'
import { createWorld, usdcUnits, type Lend, type World } from './world/fixture.js'

const OPERATIONS = 36
const SETTLED_BLOCKS = 64
const BLOCK_MS = 250
const STORM_MS = 12_000
const CALM_MS = 40_000
const seed = process.env.CHAOS_SEED ?? randomBytes(4).toString('hex')

/** Chances per call. A transaction may also be delivered without an answer. */
const rates: [RpcFault, number][] = [
  ['http500', 0.01],
  ['http429', 0.005],
  ['reset', 0.01],
  ['stale', 0.015],
  [{ delayMs: 400 }, 0.01],
]
const LOST_REPLY = 0.15

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })

function faultsBySeed(): Decide {
  const draw = drawsOf(seed, 'rpc').next
  return ({ method }) => {
    let x = draw()
    if (method === 'eth_sendRawTransaction' && x > 1 - LOST_REPLY) return 'lostReply'
    for (const [fault, rate] of rates) {
      if (x < rate) return fault
      x -= rate
    }
    return undefined
  }
}

describe(`chaos (CHAOS_SEED=${seed})`, () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld({ senderCount: 2 })
  })
  afterAll(() => world?.stop())

  /** Runs a signer and a driver until the returned function kills them at any point. */
  function startLife(number: number): () => Promise<void> {
    const stopping = new AbortController()
    const { signal } = stopping
    const signerDb = connect(mortal(world.database.urlAs('steward_signer')))
    const signer = { ...world.createSigner(`life ${number}`), db: signerDb }
    const driverUrl = mortal(world.database.urlAs('steward_relayer'))
    const listener = listenToOperations(driverUrl, signal)
    const running = [
      runSigner(signer, watchQueue(listener, signal, ['queued']), signal),
      driveChain(
        { url: driverUrl, client: world.createClient(), listener, log: world.log },
        signal,
      ),
    ]
    return async () => {
      // A hard stop: the connections go first, so that every running write fails.
      await world.db.raw(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'mortal'`,
      )
      stopping.abort()
      await Promise.allSettled(running)
      await signerDb.destroy()
    }
  }

  async function killRepeatedly(until: number): Promise<void> {
    const draw = drawsOf(seed, 'kills').next
    for (let life = 1; Date.now() < until; life++) {
      const kill = startLife(life)
      await sleep(400 + draw() * 2_600)
      await kill()
    }
  }

  /**
   * Mines blocks, with reorgs and dropped transactions until the storm ends. One loop does both: a reorg concurrent
   * with anvil's own block timer leaves gaps in its chain, which real chains never have.
   */
  async function runChain(stormUntil: number, stopping: AbortSignal): Promise<void> {
    const draw = drawsOf(seed, 'chain').next
    while (!stopping.aborted) {
      await sleep(BLOCK_MS)
      await world.mine()
      if (Date.now() > stormUntil || draw() < 0.5) continue
      if (draw() < 0.6) await world.rpc('anvil_reorg', [1 + Math.floor(draw() * 3), []])
      else await world.rpc('anvil_dropAllTransactions')
    }
  }

  /** Submits like the activities, until the operation is finished. */
  async function submitAll(lends: Lend[]): Promise<void> {
    for (const { order } of lends) await world.submit(order)
  }

  /** Clears the leases of dead signers, so that the test need not wait. */
  const endLeases = async () =>
    world
      .db('operation')
      .whereNotNull('leased_until')
      .update({ leased_until: world.db.raw('now()') })

  const openOperations = async () => {
    const rows = await world.db('operation').whereNotIn('state', ['confirmed', 'final'])
    return rows.length
  }

  /** Prints the open operations of a failed run. */
  async function printOpen(late: unknown): Promise<never> {
    const open = await world
      .db('operation as o')
      .leftJoin('chain_tx as t', 't.id', 'o.tx_id')
      .whereNotIn('o.state', ['confirmed', 'final'])
      .select('o.id', 'o.state', 'o.code', 'o.message', 't.sender', 't.nonce', 't.state as tx')
    const pool = await world.rpc('txpool_inspect')
    const text = (facts: unknown) =>
      JSON.stringify(facts, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
    process.stdout.write(`open ${text(open)}\npool ${text(pool)}\n`)
    throw late
  }

  test('every operation is executed exactly once', async () => {
    const wallets = await world.createWallets(OPERATIONS / 3, 3n * usdcUnits)
    // Below any reorg of the test, so that the wallets keep their money.
    await world.mine(SETTLED_BLOCKS)
    const lends: Lend[] = []
    const waiting = [...wallets, ...wallets, ...wallets]
    await world.driver().db.destroy()
    world.proxy.set(faultsBySeed())
    const until = Date.now() + STORM_MS
    const ending = new AbortController()
    const chain = runChain(until, ending.signal)
    const storm = killRepeatedly(until)
    while (Date.now() < until) {
      for (const wallet of waiting.splice(0, 1)) lends.push(await world.lend(wallet, usdcUnits))
      await submitAll(lends)
      await sleep(STORM_MS / OPERATIONS / 2)
    }
    await storm
    for (const wallet of waiting) lends.push(await world.lend(wallet, usdcUnits))

    world.proxy.set(undefined)
    await endLeases()
    const end = startLife(0)
    const done = world.waitUntil(async () => {
      await submitAll(lends)
      return (await openOperations()) === 0
    }, CALM_MS)
    await done.catch(printOpen).finally(end)
    ending.abort()
    await chain

    const faults = JSON.stringify(world.proxy.counts)
    const reorgs = world.logs.filter(({ message }) => message.startsWith('reorg')).length
    process.stdout.write(`chaos ${seed}: ${reorgs} reorgs seen, faults ${faults}\n`)
    for (const { address } of wallets) {
      expect(await world.deposited(address)).toBeGreaterThanOrEqual(3n * usdcUnits)
      expect(await world.deposited(address)).toBeLessThan(3n * usdcUnits + 100n)
      expect(await world.usdcOf(address)).toBe(0n)
    }
  })

  test('the nonces of a sender have no gaps, and everything it sent was stored', async () => {
    const stored = new Set((await world.sends()).map(({ hash }) => hash))
    const transactions = await world.transactions()
    for (const sender of world.senders) {
      const nonces = transactions.filter((tx) => tx.sender === sender).map(({ nonce }) => nonce)
      expect(nonces).toEqual(nonces.map((_, i) => BigInt(i)))
      const count = await world.rpc<string>('eth_getTransactionCount', [sender, 'latest'])
      expect(Number(count)).toBe(nonces.length)
    }
    const sent = await sentBy(world, world.senders)
    expect(sent.length).toBe(transactions.length)
    for (const hash of sent) expect(stored.has(hash)).toBe(true)
  })

  test('each row names the canonical block of its log', async () => {
    const rows = await world
      .db('operation as o')
      .join('reservation as r', 'r.intent_id', 'o.intent_id')
      .select('o.tx_hash', 'o.block_hash', 'o.block_number', 'r.spent_block', 'r.released_at')
    expect(rows).toHaveLength(OPERATIONS)
    for (const row of rows as SpentRow[]) {
      const at = await world.rpc<SenderReceipt>('eth_getTransactionReceipt', [row.tx_hash])
      expect(at.blockHash).toBe(row.block_hash)
      expect(row).toMatchObject({ spent_block: BigInt(at.blockNumber), released_at: null })
    }
  })

  test('each stored transaction matches its row', async () => {
    for (const { raw, hash, tx_id } of await world.sends()) {
      const { nonce, from, hash: own } = Transaction.from(raw)
      const row = (await world.transactions()).find(({ id }) => id === tx_id)
      expect([own, from, BigInt(nonce)]).toEqual([hash, row?.sender, row?.nonce])
    }
  })
})

/** Names the database sessions of one run, so that they can be terminated. */
function mortal(url: string): string {
  const named = new URL(url)
  named.searchParams.set('application_name', 'mortal')
  return named.href
}

type SpentRow = { tx_hash: string; block_hash: string }
type SenderReceipt = { blockHash: string; blockNumber: string }
type FullBlock = { transactions: { from: string; hash: string }[] }

/** Hashes of all canonical transactions of some accounts. */
async function sentBy(world: World, accounts: string[]): Promise<string[]> {
  const head = Number(await world.rpc('eth_blockNumber'))
  const known = new Set(accounts.map((account) => account.toLowerCase()))
  const hashes: string[] = []
  for (let number = 0; number <= head; number++) {
    const at = `0x${number.toString(16)}`
    const block = await world.rpc<FullBlock>('eth_getBlockByNumber', [at, true])
    const own = block.transactions.filter(({ from }) => known.has(from.toLowerCase()))
    hashes.push(...own.map(({ hash }) => hash))
  }
  return hashes
}
