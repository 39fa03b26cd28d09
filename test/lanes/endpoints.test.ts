import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { toQuantity } from 'ethers'
import { bookChain } from '../../lanes/book.js'
import { callRpc } from '../../devnet/rpc.js'
import type { DriverTools } from '../../lanes/driverTools.js'
import { createWorld, usdcUnits, type Lend, type World } from './world/fixture.js'
import {
  driverOver,
  driverOverPool,
  standsStill,
  startFork,
  startSecondAddress,
  type Twin,
} from './world/twin.js'

/** More than the rounds after which a standing head makes the driver look at the other endpoints. */
const MANY_ROUNDS = 12

describe('two endpoints of a chain', () => {
  let world: World
  let lend: Lend
  let other: Twin
  let driver: ReturnType<typeof driverOver>

  beforeAll(async () => {
    world = await createWorld()
  })
  beforeEach(async () => {
    lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    world.told.length = 0
  })
  afterEach(async () => {
    world.proxy.set(undefined)
    driver?.close()
    await other?.stop()
  })
  afterAll(() => world?.stop())

  const over = (...urls: string[]) => (driver = driverOver(world, urls))
  const overPool = (...urls: string[]) => (driver = driverOverPool(world, urls))
  /** As if what is doubted had been doubted for so much longer. */
  const letDoubtPass = (ms: number) => {
    driver.following.doubtedSince = (driver.following.doubtedSince ?? Date.now()) - ms
  }
  const rounds = async (tools: DriverTools, count = MANY_ROUNDS) => {
    for (let i = 0; i < count; i++) await bookChain(tools).catch(() => undefined)
  }
  const bookedHash = async () =>
    (await world.db('chain').first<{ booked_hash: string }>()).booked_hash
  const reorgs = () => world.told.filter(({ message }) => message.startsWith('reorg'))
  const mineOn = ({ node }: Twin, blocks: number) =>
    callRpc(node?.url ?? '', 'anvil_mine', [toQuantity(blocks)])
  const signAndMine = async () => {
    await world.sign()
    // The world's own driver sends to its node, whatever the one under test follows.
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

  test('with different heads: the one that is ahead is booked', async () => {
    other = await startSecondAddress(world)
    over(world.proxy.url, other.proxy.url)
    await rounds(driver)
    world.proxy.set(await standsStill(world))
    await signAndMine()
    await rounds(driver)
    await expectDone()
    expect(reorgs()).toEqual([])
  })

  test('that answer in turns, one far behind: nothing is taken back', async () => {
    other = await startSecondAddress(world)
    over(world.proxy.url, other.proxy.url)
    const behind = await standsStill(world)
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

  test('the preferred one on a fork: nothing is taken back, outcomes are those of the other', async () => {
    other = await startFork(world)
    over(other.proxy.url, world.proxy.url)
    await rounds(driver)
    await signAndMine()
    // The fork is longer, and without our transaction.
    await rounds(driver)
    await mineOn(other, 20)
    await rounds(driver)
    await expectDone()
    await world.mine(3)
    await rounds(driver)
    await expectDone()
    expect(reorgs()).toEqual([])
    const warned = world.told.filter(({ message }) => message.includes('shows another chain'))
    expect(warned).toHaveLength(1)
    expect(warned[0]?.facts).toEqual({ chain: world.chain.name, endpoint: 1 })
  })

  test('one on a fork that is longer from the start: the preferred one is believed', async () => {
    other = await startFork(world)
    over(world.proxy.url, other.proxy.url)
    await mineOn(other, 30)
    await signAndMine()
    await rounds(driver)
    await expectDone()
    await world.mine(3)
    await rounds(driver)
    await expectDone()
    expect(reorgs()).toEqual([])
  })

  test('one on a fork while the other is silent: booking waits and takes nothing back', async () => {
    other = await startFork(world)
    over(world.proxy.url, other.proxy.url)
    await signAndMine()
    await rounds(driver)
    await mineOn(other, 20)
    // They are compared while both answer: from here on the driver knows who strays.
    world.proxy.set(await standsStill(world))
    await rounds(driver)
    world.proxy.set(() => 'reset')
    await rounds(driver, 2 * MANY_ROUNDS)
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed' })
    world.proxy.set(undefined)
    await world.mine()
    await rounds(driver)
    await expectDone()
    expect(reorgs()).toEqual([])
  })

  test('one on a fork while the preferred one is silent from the start: booking waits for it', async () => {
    await world.book()
    const before = await bookedHash()
    other = await startFork(world)
    over(world.proxy.url, other.proxy.url)
    await mineOn(other, 5)
    world.proxy.set(() => 'reset')
    await rounds(driver)
    expect(await bookedHash()).toBe(before)
    world.proxy.set(undefined)
    await signAndMine()
    await rounds(driver)
    await expectDone()
    expect(reorgs()).toEqual([])
  })

  test('one seen on a fork that begins above what is booked: it is not followed while the other is silent', async () => {
    await world.book()
    const before = await bookedHash()
    other = await startFork(world)
    over(world.proxy.url, other.proxy.url)
    await mineOn(other, 5)
    await signAndMine()
    // They are compared, and then the round fails.
    world.proxy.set(({ method }) => (method === 'eth_getTransactionReceipt' ? 'reset' : undefined))
    await expect(bookChain(driver)).rejects.toThrow('did not answer')
    world.proxy.set(() => 'reset')
    await rounds(driver)
    expect(await bookedHash()).toBe(before)
    world.proxy.set(undefined)
    await rounds(driver)
    await expectDone()
    expect(reorgs()).toEqual([])
  })

  test('one on a fork while the preferred one tells an old head at first: the preferred one is believed', async () => {
    await world.book()
    other = await startFork(world)
    over(world.proxy.url, other.proxy.url)
    world.proxy.set(await standsStill(world))
    await mineOn(other, 5)
    await rounds(driver, 2)
    world.proxy.set(undefined)
    await signAndMine()
    await rounds(driver)
    await expectDone()
    expect(reorgs()).toEqual([])
  })

  test('one on a fork while the preferred one lacks the booked block at first: booking waits for it', async () => {
    const behind = await standsStill(world)
    await world.mine()
    await world.book()
    const before = await bookedHash()
    other = await startFork(world)
    over(world.proxy.url, other.proxy.url)
    world.proxy.set(behind)
    await mineOn(other, 5)
    await rounds(driver)
    expect(await bookedHash()).toBe(before)
    world.proxy.set(undefined)
    await signAndMine()
    await rounds(driver)
    await expectDone()
    expect(reorgs()).toEqual([])
  })

  test('a preferred one that stays behind is not waited for for ever', async () => {
    const behind = await standsStill(world)
    await world.mine()
    await world.book()
    other = await startSecondAddress(world)
    over(other.proxy.url, world.proxy.url)
    other.proxy.set(behind)
    await signAndMine()
    await rounds(driver, 2)
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed' })
    letDoubtPass(10_000)
    await rounds(driver, 2)
    await expectDone()
  })

  test('what was booked from a fork is taken back when the others contradict it for a minute', async () => {
    other = await startFork(world)
    overPool(world.proxy.url, other.proxy.url)
    const before = await bookedHash()
    world.proxy.set(() => 'reset')
    await mineOn(other, 3)
    await rounds(driver, 1)
    letDoubtPass(10_000)
    await rounds(driver)
    const forked = await bookedHash()
    expect(forked).not.toBe(before)
    world.proxy.set(undefined)
    await signAndMine()
    const doubts = () => world.told.filter(({ message }) => message.includes('on a fork, booking'))
    // The endpoints are compared beside the requests, and by booking after 50 rounds.
    for (let i = 0; i < 100 && doubts().length === 0; i++) await rounds(driver)
    await mineOn(other, 3)
    await rounds(driver)
    expect(await bookedHash()).toBe(forked)
    expect(reorgs()).toEqual([])
    expect(doubts()).toEqual([expect.objectContaining({ level: 'error' })])
    letDoubtPass(60_000)
    await rounds(driver)
    expect(reorgs()).toHaveLength(1)
    await expectDone()
  })

  test('one that is silent from the start is not waited for for ever', async () => {
    other = await startSecondAddress(world)
    over(other.proxy.url, world.proxy.url)
    other.proxy.set(() => 'reset')
    await signAndMine()
    await world.waitUntil(async () => {
      await rounds(driver, 1)
      return (await world.row(lend.operationId))?.state === 'confirmed'
    })
    await expectDone()
  })

  test('that both lack the booked block: a reorg is believed at once', async () => {
    other = await startSecondAddress(world)
    over(world.proxy.url, other.proxy.url)
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

  test('what was booked from a fork is taken back once nobody has it any more', async () => {
    other = await startFork(world)
    over(other.proxy.url, world.proxy.url)
    world.proxy.set(() => 'reset')
    await mineOn(other, 3)
    const before = await bookedHash()
    await world.waitUntil(async () => {
      await rounds(driver, 1)
      return (await bookedHash()) !== before
    })
    other.proxy.set(() => 'reset')
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

  test('one that fails in the middle of a round: the other is booked in the next one', async () => {
    other = await startSecondAddress(world)
    over(world.proxy.url, other.proxy.url)
    await rounds(driver)
    await signAndMine()
    world.proxy.set(({ method }) => (method === 'eth_getTransactionReceipt' ? 'reset' : undefined))
    await expect(bookChain(driver)).rejects.toThrow('did not answer')
    world.proxy.set(() => 'reset')
    await bookChain(driver)
    await expectDone()
  })
})
