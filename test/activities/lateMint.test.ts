import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createActivities } from '../../activities/index.js'
import {
  createBridgeWorld,
  dollar,
  type BridgeWorld,
  type PlannedIntent,
} from '../relayer/bridge/bridgeFixture.js'
import {
  arrived,
  burned,
  destination,
  lendRequest,
  source,
  whileMining,
  whileRefusing,
} from '../relayer/bridge/bridging.js'
import type { StoredWallet } from '../../db/accounts/wallets.js'
import type { BridgeStep } from '../../domain/intent/intent.js'
import type { ChainSite } from '../relayer/world/site.js'

const giveUpMs = 3_600_000

let world: BridgeWorld
let to: ChainSite
let wallet: StoredWallet
beforeAll(async () => {
  world = await createBridgeWorld([source, destination], { bridgeGiveUpMs: giveUpMs })
  to = world.at(destination)
})
beforeEach(async () => {
  wallet = await world.createWallet({ [source]: dollar })
})
afterAll(() => world?.stop())

const inputOf = (intent: PlannedIntent) => world.stepInput<BridgeStep>(intent)
const waiting = { type: 'WAITING', nonRetryable: false }

/** Sets the age of the burn. */
async function age(intent: PlannedIntent, ms: number): Promise<void> {
  const burnedAt = new Date(Date.now() - ms)
  const id = world.idOf(intent, 1, 'bridge')
  await world.db('burn').where({ operation_id: id }).update({ burned_at: burnedAt })
}

describe('a mint that the destination refuses', () => {
  test('is late, fails its intent when it is too late, and delivers the money nevertheless', async () => {
    const intent = await burned(world, wallet, lendRequest)
    const nonce = (await world.burn(intent))?.eventNonce ?? ''
    const input = { ...inputOf(intent), nonce }
    const minting = () => world.run(world.activities.mint, input)
    const mintRow = { id: world.idOf(intent, 1, 'mint') }
    await whileRefusing(to, async () => {
      await world.perform(intent, 1, 'mint')
      expect(await world.row(intent, 1, 'mint')).toMatchObject({ state: 'deferred' })
      const later = new Date(Date.now() + giveUpMs)
      await world.db('operation').where(mintRow).update({ retry_after: later })
      await age(intent, 0)
      await expect(minting()).rejects.toMatchObject(waiting)
      expect(await world.intent(intent)).toMatchObject({ status: 'executing', delay: null })

      await age(intent, giveUpMs / 2)
      await expect(minting()).rejects.toMatchObject(waiting)
      const message = expect.stringContaining('awaits its mint')
      const funds = [{ chain: 'bridge', asset: 'USDC', amount: '1' }]
      expect(await world.intent(intent)).toMatchObject({
        ...{ status: 'executing', delay: { code: 'BRIDGE_TIMEOUT', message, funds } },
      })

      await age(intent, giveUpMs + 1_000)
      const failed = { settled: false, waitsFor: { failure: 'BRIDGE_TIMEOUT' } }
      expect(await minting()).toMatchObject(failed)
      const error = { code: 'BRIDGE_TIMEOUT', step: 1, message, funds }
      expect(await world.intent(intent)).toMatchObject({ status: 'failed', error })
      expect(await world.reservation(intent, 2)).toMatchObject({ released_at: expect.any(Date) })
      await expect(minting()).rejects.toMatchObject(waiting)
    })
    await world.db('operation').where(mintRow).update({ retry_after: new Date() })
    const { txHash } = await whileMining(to, world.settle(world.activities.mint, input))
    expect((await world.intent(intent))?.error).toMatchObject({
      ...{ code: 'BRIDGE_TIMEOUT', recovery: { txHash, chain: destination, amount: '0.9999' } },
    })
    expect(await to.usdcOf(wallet.address)).toBe(arrived)
  })

  test('that is signed but not confirmed is late too', async () => {
    const intent = await burned(world, wallet)
    const nonce = (await world.burn(intent))?.eventNonce ?? ''
    await world.submit(intent, 1, 'mint')
    await to.sign()
    await age(intent, giveUpMs / 2)
    const stopping = new AbortController()
    const activities = createActivities({ ...world.tools, slotMs: 10, stopping: stopping.signal })
    const result = await world.run(activities.mint, { ...inputOf(intent), nonce })
    expect(result).toMatchObject({ settled: false })
    expect((result as { againMs: number }).againMs).toBeLessThanOrEqual(giveUpMs / 2 + 1)
    expect(await world.intent(intent)).toMatchObject({ delay: { code: 'BRIDGE_TIMEOUT' } })
    await to.broadcast()
    await whileMining(to, world.settle(world.activities.mint, { ...inputOf(intent), nonce }))
    expect(await world.intent(intent)).toMatchObject({ status: 'executing', delay: null })
  })
})
