import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Interface } from 'ethers'
import { finalizeIntent } from '../../../activities/status.js'
import { findLingering } from '../../../db/intents/sweeping.js'
import { createBridgeWorld, dollar, type BridgeWorld } from './bridgeFixture.js'
import {
  arrived,
  bridgeRequest,
  burned,
  destination,
  expectMinted,
  lendRequest,
  mintByStranger,
  source,
} from './bridging.js'
import { allowSharedBundle } from './crossing.js'
import { finalityBlocks, owner } from '../world/fixture.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'
import type { ChainSite } from '../world/site.js'

const messenger = new Interface(['function setMinFee(uint256 minFee)'])

let world: BridgeWorld
let from: ChainSite
let to: ChainSite
let wallet: StoredWallet
beforeAll(async () => {
  world = await createBridgeWorld([source, destination])
  ;[from, to] = [world.at(source), world.at(destination)]
})
beforeEach(async () => {
  wallet = await world.createWallet({ [source]: dollar })
})
afterAll(() => world?.stop())

describe('deposits of money that was minted together', () => {
  test('spend what each mint paid', async () => {
    const other = await world.createWallet({ [source]: dollar })
    const intents = [
      await burned(world, wallet, lendRequest),
      await burned(world, other, lendRequest),
    ]
    for (const intent of intents) await world.submit(intent, 1, 'mint')
    await to.round()
    const minted = await Promise.all(intents.map((intent) => world.row(intent, 1, 'mint')))
    expect(minted[0]?.tx_hash).toBe(minted[1]?.tx_hash)
    for (const intent of intents) await world.submit(intent, 2, 'deposit')
    await to.round()
    const deposited = await Promise.all(intents.map((intent) => world.row(intent, 2, 'deposit')))
    const done = { state: 'confirmed', success: true, units: arrived.toString() }
    expect(deposited).toEqual([expect.objectContaining(done), expect.objectContaining(done)])
  })
})

describe('a burn', () => {
  test('is mined with its message, and its money is spent', async () => {
    const intent = await world.intend(wallet, bridgeRequest)
    const row = await world.perform(intent, 1, 'bridge')
    expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
    const spent = { spent_block: row?.block_number, released_at: null }
    expect(await world.reservation(intent, 1)).toMatchObject(spent)
    const burn = await world.burn(intent)
    expect(burn).toMatchObject({ message: null, burnedAt: expect.any(Date) })
    expect(burn?.sent).toContain(wallet.address.slice(2).toLowerCase())
    expect(await from.usdcOf(wallet.address)).toBe(0n)
  })

  test('that fails on the chain is failed for good, and its money is free when that is final', async () => {
    const intent = await world.intend(wallet, lendRequest)
    await world.submit(intent, 1, 'bridge')
    await from.sign()
    const setFee = (units: bigint) => ({
      to: from.chain.cctp.tokenMessenger,
      data: messenger.encodeFunctionData('setMinFee', [units]),
    })
    await from.send(owner, setFee(100_000n))
    await from.mine()
    await from.broadcast()
    await from.mine()
    await from.index()
    await from.send(owner, setFee(0n))
    const row = await world.row(intent, 1, 'bridge')
    expect(row).toMatchObject({ state: 'confirmed', success: false, units: null })
    expect(await world.burn(intent)).toMatchObject({ sent: null, burnedAt: null })

    const waiting = world.run(world.activities.awaitAttestation, world.stepInput(intent))
    await expect(waiting).rejects.toMatchObject({ type: 'BRIDGE_FAILED', nonRetryable: true })
    const failure = { code: 'BRIDGE_FAILED', message: 'It failed.', step: 1 }
    await finalizeIntent(world.workerDb, { intentId: intent.id, failure })
    expect(await world.reservation(intent, 1)).toMatchObject({ released_at: null })
    expect(await world.reservation(intent, 2)).toMatchObject({ released_at: expect.any(Date) })
    await expect(world.intend(wallet, bridgeRequest)).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    })
    await from.mine(finalityBlocks)
    await from.index()
    const free = { spent_block: null, released_at: expect.any(Date) }
    expect(await world.reservation(intent, 1)).toMatchObject(free)
    expect((await world.intend(wallet, bridgeRequest)).plan.steps).toHaveLength(1)
  })

  test('equal to another one in the bundle has a message of its own', async () => {
    await from.give(wallet.address, dollar)
    const intents = [
      await world.intend(wallet, bridgeRequest),
      await world.intend(wallet, bridgeRequest),
    ] as const
    for (const intent of intents) await world.submit(intent, 1, 'bridge')
    await allowSharedBundle(world.db)
    await from.round()
    const rows = await Promise.all(intents.map((intent) => world.row(intent, 1, 'bridge')))
    expect(rows[0]?.tx_hash).toBe(rows[1]?.tx_hash)
    const nonces = new Set([await world.attest(intents[0]), await world.attest(intents[1])])
    expect(nonces.size).toBe(2)
    for (const intent of intents) await world.submit(intent, 1, 'mint')
    await to.round()
    for (const intent of intents) await expectMinted(world, intent, 2n * arrived)
  })

  test('keeps its first message', async () => {
    await from.give(wallet.address, dollar)
    const intents = [
      await world.intend(wallet, bridgeRequest),
      await world.intend(wallet, bridgeRequest),
    ] as const
    for (const intent of intents) await world.submit(intent, 1, 'bridge')
    await allowSharedBundle(world.db)
    await from.round()
    const nonces = async () =>
      Promise.all(intents.map(async (intent) => (await world.burn(intent))?.eventNonce))
    world.front.set((messages) => messages.slice(1))
    await from.mine()
    while (!(await nonces()).some(Boolean)) await sleep(20)
    const known = await nonces()
    const first = known[0] ? 0 : 1
    world.front.set(undefined)
    expect(await world.attest(intents[first])).toBe(known[first])
    expect(await world.attest(intents[first ? 0 : 1])).not.toBe(known[first])
  })
})

describe('a mint', () => {
  test('pays the amount of its own logs, which the next step spends', async () => {
    const intent = await burned(world, wallet, lendRequest)
    expect(await world.reservation(intent, 2)).toMatchObject({ from_block: null })
    await world.perform(intent, 1, 'mint')
    const row = await expectMinted(world, intent)
    expect(row?.chain_key).toBe((await world.burn(intent))?.eventNonce)
    expect(BigInt(row?.gas_used ?? 0)).toBeGreaterThan(0n)
    const fed = { from_block: row?.block_number, units: arrived.toString(), spent_block: null }
    expect(await world.reservation(intent, 2)).toMatchObject(fed)
    const { spent_block } = (await world.reservation(intent, 1)) ?? {}
    const burn = await world.row(intent, 1, 'bridge')
    expect(spent_block).toBe(burn?.block_number)

    const deposit = await world.perform(intent, 2, 'deposit')
    expect(deposit).toMatchObject({ state: 'confirmed', units: arrived.toString() })
    const spent = { spent_block: deposit?.block_number }
    expect(await world.reservation(intent, 2)).toMatchObject(spent)
    expect(await to.usdcOf(wallet.address)).toBe(0n)
  })

  test('by a foreign account below the indexed block of the burn is found', async () => {
    const snapshot = await to.rpc('evm_snapshot')
    await to.mine(4)
    await to.index()
    const intent = await burned(world, wallet)
    await to.rpc('evm_revert', [snapshot])
    const hash = await mintByStranger(world, intent)
    await to.mine(6)
    await to.index()
    await world.submit(intent, 1, 'mint')
    await to.sign()
    await to.indexForeign()
    expect(await world.row(intent, 1, 'mint')).toMatchObject({ state: 'mined', tx_hash: hash })
  })
})

describe('while the attestation service is down', () => {
  test('bridges are planned with the last fees, also by new processes', async () => {
    await world.setFaults({ outage: true })
    const requests = world.front.requests.length
    await world.restartAttester()
    while (world.front.requests.length < requests + 2) await sleep(20)
    const intent = await world.intend(wallet, lendRequest)
    expect(intent.plan.steps).toMatchObject([{ type: 'bridge', speed: 'fast' }, {}])
    await world.perform(intent, 1, 'bridge')
    await world.setFaults({ outage: false })
    await world.attest(intent)
    await world.perform(intent, 1, 'mint')
    await expectMinted(world, intent)
  })
})

describe('a mint always happens', () => {
  test('a missing workflow is started again while money is in the bridge', async () => {
    const intent = await burned(world, wallet)
    const { id } = intent
    await world.db('intent').where({ id }).update({ dispatched_at: world.db.fn.now() })
    const failure = { code: 'BRIDGE_TIMEOUT', message: 'It is late.', step: 1 }
    await finalizeIntent(world.workerDb, { intentId: id, failure })
    const lingering = async () => findLingering(world.workerDb, 0, { after: '', limit: 50 })
    expect(await lingering()).toContain(id)
    await world.perform(intent, 1, 'mint')
    expect(await lingering()).not.toContain(id)
  })
})
