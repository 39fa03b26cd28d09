import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { listenToOperations } from '../../../db/client/listen.js'
import { watchQueue } from '../../../operations/queue.js'
import { driveChain } from '../../../relayer/driveChain.js'
import { runSigner } from '../../../signer/sign.js'
import { expectNoGaps, mineAt } from '../../relayer/world/scenes/stuck.js'
import { createWorld, usdcUnits, type Lend, type World } from '../../relayer/world/fixture.js'

const GWEI = 1_000_000_000n
const BLOCK_MS = 100
/** Time limit until a transaction that became too cheap is mined, ms. */
const LIMIT_MS = 30_000

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })

describe('a base fee that quadruples while signer and driver run', () => {
  let world: World
  let baseFeeWei = GWEI
  const stopping = new AbortController()
  const running: Promise<unknown>[] = []

  beforeAll(async () => {
    world = await createWorld({
      senderCount: 2,
      changes: { stuckAfter: { seconds: 1, blocks: 4 } },
    })
    await world.driver().db.destroy()
    const { signal } = stopping
    const url = world.database.urlAs('steward_relayer')
    const listener = listenToOperations(url, signal)
    running.push(
      runSigner(world.signer, watchQueue(listener, signal, ['queued']), signal),
      driveChain({ url, client: world.createClient(), listener, log: world.log }, signal),
    )
  })
  afterAll(async () => {
    stopping.abort()
    await Promise.allSettled(running)
    await world?.stop()
  })

  async function keepMining(): Promise<void> {
    while (!stopping.signal.aborted) {
      await mineAt(world, baseFeeWei)
      await sleep(BLOCK_MS)
    }
  }
  const states = async (lends: Lend[]) => {
    const rows = await Promise.all(lends.map(({ operationId }) => world.row(operationId)))
    return rows.map((row) => row?.state)
  }

  test('every sender replaces its stuck transactions, and all are mined in time', async () => {
    const wallets: Lend['wallet'][] = []
    for (let i = 0; i < 4; i++) wallets.push(await world.createWalletUnindexed(usdcUnits))
    // Nothing is mined while they are signed at the old price.
    const lends: Lend[] = []
    for (const wallet of wallets) {
      lends.push(await world.lend(wallet, usdcUnits))
      await world.waitUntil(async () => (await states(lends)).every((state) => state === 'signed'))
    }
    baseFeeWei = 4n * GWEI
    running.push(keepMining())
    const isDone = async () =>
      (await states(lends)).every((state) => state === 'confirmed' || state === 'final')
    await world.waitUntil(isDone, LIMIT_MS)
    for (const { wallet } of lends) {
      expect(await world.deposited(wallet.address)).toBeGreaterThanOrEqual(usdcUnits)
      expect(await world.usdcOf(wallet.address)).toBe(0n)
    }
    await expectNoGaps(world)
    const sends = await world.sends()
    const senders = new Set((await world.transactions()).map(({ sender }) => sender))
    expect(sends.length).toBeGreaterThanOrEqual((await world.transactions()).length + senders.size)
    expect(world.logs.filter(({ level }) => level === 'error')).toEqual([])
  })
})
