import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { toQuantity } from 'ethers'
import { indexChain } from '../../relayer/indexChain.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import type { DriverTools } from '../../relayer/relayerTools.js'
import { createWorld, usdcUnits, type Lend, type World } from './world/fixture.js'
import {
  createDriverOf,
  stuckAtHead,
  startFork,
  startSecondAddress,
  type SecondEndpoint,
} from './world/secondEndpoint.js'

/** Enough rounds for some comparisons of the endpoints. */
const MANY_ROUNDS = 10
const ROUND_MS = 20

const otherHash = `0x${'ab'.repeat(32)}`

describe('two endpoints of a chain', () => {
  let world: World
  let lend: Lend
  let other: SecondEndpoint
  let driver: ReturnType<typeof createDriverOf>

  beforeAll(async () => {
    world = await createWorld()
  })
  beforeEach(async () => {
    lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    world.logs.length = 0
  })
  afterEach(async () => {
    world.proxy.set(undefined)
    driver?.close()
    await other?.stop()
  })
  afterAll(() => world?.stop())

  const useEndpoints = (...urls: string[]) => (driver = createDriverOf(world, urls))
  const rounds = async (tools: DriverTools, count = MANY_ROUNDS) => {
    for (let i = 0; i < count; i++) {
      await indexChain(tools).catch(() => undefined)
      await sleep(ROUND_MS)
    }
  }
  const indexedHash = async () =>
    (await world.db('chain').first<{ indexed_hash: string }>()).indexed_hash
  const reorgs = () => world.logs.filter(({ message }) => message.startsWith('reorg'))
  const mineOn = ({ node }: SecondEndpoint, blocks: number) =>
    callRpc(node?.url ?? '', 'anvil_mine', [toQuantity(blocks)])
  const signAndMine = async () => {
    await world.sign()
    // The world's own driver sends to its node, independent of the driver under test.
    await world.broadcast()
    await world.mine()
  }
  const expectDone = async () => {
    const row = await world.row(lend.operationId)
    expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
    const block = await world.rpc<{ hash: string }>('eth_getBlockByNumber', [
      toQuantity(row?.block_number ?? 0n),
      false,
    ])
    expect(row?.block_hash).toBe(block.hash)
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
  }

  test('the one that is ahead is indexed', async () => {
    other = await startSecondAddress(world)
    useEndpoints(world.proxy.url, other.proxy.url)
    await rounds(driver)
    world.proxy.set(await stuckAtHead(world))
    await signAndMine()
    await rounds(driver)
    await expectDone()
    expect(reorgs()).toEqual([])
  })

  test('that alternate, one of them far behind, roll nothing back', async () => {
    other = await startSecondAddress(world)
    useEndpoints(world.proxy.url, other.proxy.url)
    const behind = await stuckAtHead(world)
    await signAndMine()
    await rounds(driver)
    await expectDone()
    for (let i = 0; i < 4; i++) {
      const [one, two] = i % 2 === 0 ? [behind, undefined] : [undefined, behind]
      world.proxy.set(one)
      other.proxy.set(two)
      await world.mine()
      await rounds(driver)
      await expectDone()
    }
    expect(reorgs()).toEqual([])
  })

  test('the preferred one is followed when the other one is on a longer fork', async () => {
    other = await startFork(world)
    useEndpoints(world.proxy.url, other.proxy.url)
    await mineOn(other, 30)
    await signAndMine()
    await rounds(driver)
    await expectDone()
    await world.mine(3)
    await rounds(driver)
    await expectDone()
    expect(reorgs()).toEqual([])
  })

  test('indexing waits and rolls nothing back when the only reachable one is on a fork', async () => {
    other = await startFork(world)
    useEndpoints(world.proxy.url, other.proxy.url)
    await signAndMine()
    await mineOn(other, 20)
    // Compared while both answer, so that the fork is known from here on.
    await rounds(driver)
    const before = await indexedHash()
    world.proxy.set(() => 'reset')
    await rounds(driver, 2 * MANY_ROUNDS)
    expect(await indexedHash()).toBe(before)
    world.proxy.set(undefined)
    await world.mine()
    await world.waitUntil(async () => {
      await rounds(driver, 1)
      return (await indexedHash()) !== before
    })
    await expectDone()
    expect(reorgs()).toEqual([])
  })

  test('a differing head rolls nothing back while the other endpoint has the indexed block', async () => {
    other = await startSecondAddress(world)
    await signAndMine()
    await world.index()
    const head = await world.rpc<object>('eth_getBlockByNumber', ['latest', false])
    const number = toQuantity(BigInt(await world.rpc<string>('eth_blockNumber')) + 1n)
    const orphan = { ...head, number, hash: otherHash, parentHash: otherHash }
    other.proxy.set(({ params: [at] }) => (at === 'latest' ? { answer: orphan } : undefined))
    // Compared once at the start: until the replacement block the preferred endpoint counts.
    driver = createDriverOf(world, [other.proxy.url, world.proxy.url], 3_600_000)
    await rounds(driver, 3)
    await world.mine()
    const { hash } = await world.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    await world.waitUntil(async () => {
      await rounds(driver, 1)
      return (await indexedHash()) === hash
    })
    await expectDone()
    expect(reorgs()).toEqual([])
  })

  test('blocks indexed from a fork are rolled back when the preferred endpoint is available again', async () => {
    other = await startFork(world)
    useEndpoints(world.proxy.url, other.proxy.url)
    const before = await indexedHash()
    world.proxy.set(() => 'reset')
    await mineOn(other, 3)
    await world.waitUntil(async () => {
      await rounds(driver, 1)
      return (await indexedHash()) !== before
    })
    world.proxy.set(undefined)
    await signAndMine()
    await world.waitUntil(async () => {
      await rounds(driver, 1)
      return reorgs().length > 0
    })
    await rounds(driver)
    expect(reorgs()).toHaveLength(1)
    await expectDone()
  })

  test('one that never answers is not waited for', async () => {
    other = await startSecondAddress(world)
    useEndpoints(other.proxy.url, world.proxy.url)
    other.proxy.set(() => 'reset')
    await signAndMine()
    await rounds(driver, 3)
    await expectDone()
  })

  test('that both miss the indexed block: the reorg counts at once', async () => {
    other = await startSecondAddress(world)
    useEndpoints(world.proxy.url, other.proxy.url)
    await signAndMine()
    await rounds(driver)
    await expectDone()
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await rounds(driver, 4)
    expect(reorgs()).toHaveLength(1)
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed' })
    await world.broadcast(driver)
    await world.mine()
    await rounds(driver)
    await expectDone()
  })

  test('one that fails within a round: the next round indexes from the other one', async () => {
    other = await startSecondAddress(world)
    useEndpoints(world.proxy.url, other.proxy.url)
    await rounds(driver)
    await signAndMine()
    world.proxy.set(({ method }) => (method === 'eth_getTransactionReceipt' ? 'reset' : undefined))
    await expect(indexChain(driver)).rejects.toThrow('did not answer')
    world.proxy.set(() => 'reset')
    await indexChain(driver)
    await expectDone()
  })
})
