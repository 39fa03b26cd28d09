import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listenToOperations, wantIndexed } from '../../../db/client/listen.js'
import { connectChain } from '../../../evm/connect.js'
import { readRates } from '../../../evm/lending/markets.js'
import { createRegistry } from '../../../evm/registry.js'
import { probeChain } from '../../../operations/health/chain.js'
import { HEALTHY_MS } from '../../../operations/health/watch.js'
import { findChainState, readHeaders } from '../../../operations/indexing/indexedBlocks.js'
import { driveChain } from '../../../relayer/driveChain.js'
import { indexChain } from '../../../relayer/indexChain.js'
import { DAY_MS, MINUTE_MS } from '../../../runtime/durations.js'
import { ensureRefills } from '../../../signer/senders/keys.js'
import { REFILL_IDLE_MS, refillOnce } from '../../../signer/senders/refill.js'
import { createWorld, finalityBlocks, usdcUnits, type World } from '../world/fixture.js'

/** Blocks of an idle poll on a fast rollup. */
const BLOCKS = 300

let world: World

beforeAll(async () => {
  world = await createWorld({ senderCount: 2 })
  await ensureRefills(world.signerDb, world.treasury, [world.chain.chainId])
})
afterAll(() => world?.stop())

const head = async () => BigInt(await world.rpc<string>('eth_blockNumber'))
const indexed = async () => (await findChainState(world.db, world.chain.chainId))?.indexed.number

/** Calls that the node receives meanwhile. */
async function countCalls(work: () => Promise<unknown>): Promise<number> {
  const sum = () => Object.values(world.proxy.asked).reduce((all, calls) => all + calls, 0)
  const before = sum()
  await work()
  return sum() - before
}

async function poll(): Promise<void> {
  await world.mine(BLOCKS)
  await indexChain(world.driver())
  expect(await indexed()).toBe(await head())
}

describe('a chain on which nothing is open', () => {
  test.each(createRegistry('testnet').chains)(
    'costs at most 5,000 calls a day ($name)',
    async ({ idlePollMs }) => {
      const tools = world.driver()
      await world.index()
      // As driveChain sets it.
      tools.finalityMs = 5_000
      tools.seen.finalityAt = performance.now()
      const perPoll = await countCalls(poll)
      tools.seen.finalityAt = -Infinity
      const perFinality = (await countCalls(poll)) - perPoll
      tools.finalityMs = 0
      const client = world.createClient()
      const perProbe = await countCalls(() => probeChain(client, world.signer.registry))
      const perSnapshot = await countCalls(() => readRates(client))
      const limit = { highestWei: 1n, dailyWei: 0n, reserveWei: 0n }
      const limits = Object.fromEntries(
        createRegistry('testnet').chains.map(({ name }) => [name, limit]),
      ) as Parameters<typeof refillOnce>[0]['limits']
      const perRefill = await countCalls(() =>
        refillOnce({ ...world.signer, limits, reported: new Set() }, client),
      )
      const parts = {
        polls: (perPoll * DAY_MS) / idlePollMs,
        finality: (perFinality * DAY_MS) / (10 * MINUTE_MS),
        // In four processes.
        probes: (4 * perProbe * DAY_MS) / HEALTHY_MS,
        snapshots: (perSnapshot * DAY_MS) / (5 * MINUTE_MS),
        refills: (perRefill * DAY_MS) / REFILL_IDLE_MS,
      }
      const sum = Object.values(parts).reduce((all, calls) => all + calls, 0)
      const uncounted = Object.entries(parts).filter(([, calls]) => !(calls > 0))
      expect(uncounted, JSON.stringify(parts)).toEqual([])
      expect(sum, JSON.stringify(parts)).toBeLessThanOrEqual(5_000)
    },
  )

  test('executes its first intent, although the stored headers have gaps', async () => {
    for (let i = 0; i < 3; i++) await poll()
    const lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    await world.round()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
    await world.mine(64)
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'final' })
  })

  test('finds a reorg in the blocks that were not read', async () => {
    await poll()
    await poll()
    const dropped = await findChainState(world.db, world.chain.chainId)
    // A deeper reorg would drop the finalized block.
    await world.rpc('anvil_reorg', [finalityBlocks - 1, []])
    await world.mine(30)
    await world.index()
    expect(await indexed()).toBe(await head())
    const at = `0x${dropped?.indexed.number.toString(16)}`
    const block = await world.rpc<{ hash: string }>('eth_getBlockByNumber', [at, false])
    expect(block.hash).not.toBe(dropped?.indexed.hash)
    for (const { number, hash } of await readHeaders(world.db, world.chain.chainId)) {
      const at = `0x${number.toString(16)}`
      const block = await world.rpc<{ hash: string }>('eth_getBlockByNumber', [at, false])
      expect(block.hash).toBe(hash)
    }
  })

  test('is indexed at once for a plan that waits for its newest blocks', async () => {
    await world.index()
    await world.driver().db.destroy()
    const stopping = new AbortController()
    const { signal } = stopping
    const url = world.database.urlAs('steward_relayer')
    const listener = listenToOperations(url, signal)
    const rare = { ...world.chain, idlePollMs: 3_600_000 }
    const client = connectChain(rare, world.proxy.url)
    const driving = driveChain({ url, client, listener, log: world.log }, signal)
    await world.mine(BLOCKS)
    const wanted = await head()
    await world.waitUntil(async () => {
      await wantIndexed(world.db, world.chain.chainId)
      return (await indexed()) === wanted
    })
    await world.mine(BLOCKS)
    await wantIndexed(world.db, world.chain.chainId)
    const next = await head()
    await world.waitUntil(async () => (await indexed()) === next)
    stopping.abort()
    await driving
    client.close()
    await world.restartDriver()
  })
})
