import { afterEach, describe, expect, test } from 'vitest'
import { listenToOperations } from '../../db/client/listen.js'
import { watchQueue } from '../../operations/queue.js'
import { runSigner } from '../../signer/sign.js'
import { createWorld, usdcUnits, type Lend, type World } from '../relayer/world/fixture.js'
import type { SignerTools } from '../../signer/signingContext.js'

let world: World
let stop: () => Promise<unknown> = () => Promise.resolve()
afterEach(async () => {
  world.proxy.set(undefined)
  await stop()
  stop = () => Promise.resolve()
  await world?.stop()
})

function startSigner(tools: SignerTools = world.signer): void {
  const stopping = new AbortController()
  const { signal } = stopping
  const listener = listenToOperations(world.database.urlAs('steward_signer'), signal)
  const running = runSigner(tools, watchQueue(listener, signal, ['queued']), signal)
  stop = () => {
    stopping.abort()
    return running
  }
}

const areSigned = async (lends: Lend[]) => {
  const rows = await Promise.all(lends.map(({ operationId }) => world.row(operationId)))
  return rows.every((row) => row?.state === 'signed')
}

/** Wait limit of a bundle for slow operations, ms. */
const PATIENCE_MS = 300

describe('runSigner', () => {
  test('bundles operations that are ordered together', async () => {
    world = await createWorld({ senderCount: 1 })
    const wallets = await world.createWallets(12, usdcUnits)
    startSigner()
    const lends = await Promise.all(wallets.map((wallet) => world.lend(wallet, usdcUnits)))
    await world.waitUntil(() => areSigned(lends))
    expect((await world.transactions()).length).toBeLessThanOrEqual(4)
  })

  test('signs the rest of a backlog without another notification', async () => {
    world = await createWorld({ senderCount: 1 })
    const lends: Lend[] = []
    for (const wallet of await world.createWallets(25, usdcUnits)) {
      lends.push(await world.lend(wallet, usdcUnits))
    }
    startSigner()
    await world.waitUntil(() => areSigned(lends))
    expect((await world.transactions()).length).toBeLessThanOrEqual(6)
  })

  test('survives a failing node and continues when it recovers', async () => {
    world = await createWorld({ senderCount: 2 })
    const [wallet] = await world.createWallets(1, usdcUnits)
    if (!wallet) throw new Error('No wallet.')
    world.proxy.set(() => 'reset')
    startSigner()
    const lend = await world.lend(wallet, usdcUnits)
    await world.waitUntil(async () => (await world.row(lend.operationId))?.state === 'deferred')
    world.proxy.set(undefined)
    await world.waitUntil(async () => {
      await world.retryNow(lend)
      return areSigned([lend])
    })
  })

  test('ends only after late operations are signed or released', async () => {
    world = await createWorld({ senderCount: 1 })
    const [wallet] = await world.createWallets(1, usdcUnits)
    if (!wallet) throw new Error('No wallet.')
    let isAsked = false
    world.proxy.set(({ method }) => {
      if (method !== 'eth_estimateGas') return undefined
      isAsked = true
      return { delayMs: 3 * PATIENCE_MS }
    })
    startSigner({ ...world.signer, patienceMs: PATIENCE_MS })
    const lend = await world.lend(wallet, usdcUnits)
    await world.waitUntil(() => Promise.resolve(isAsked))
    await stop()
    expect(await areSigned([lend])).toBe(true)
  })
})
