import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hexlify, randomBytes } from 'ethers'
import {
  createAttestingWorld,
  destination,
  type AttestingWorld,
  type StoredBurn,
} from './attesting.js'

let world: AttestingWorld
beforeAll(async () => {
  world = await createAttestingWorld()
})
beforeEach(() => world.restart())
afterAll(() => world?.stop())

describe('an expired message', () => {
  const renewals = (nonce: string) =>
    world.service().requests.filter((request) => request === `POST /v2/reattest/${nonce}`).length

  async function expired(): Promise<{ burn: StoredBurn; nonce: string }> {
    const burn = await world.insertBurned()
    const nonce = await world.attest(burn, { expiresAt: await world.seenBlock() })
    await world.waitUntil(() => Promise.resolve(renewals(nonce) > 0))
    expect(await world.burnOf(burn)).toMatchObject({ eventNonce: nonce })
    return { burn, nonce }
  }
  test('is attested again under the same nonce', async () => {
    const { burn, nonce } = await expired()
    const { message } = (await world.burnOf(burn)) ?? {}
    await world.attest(burn, { nonce })
    await world.waitUntil(async () => (await world.burnOf(burn))?.message !== message)
    expect(await world.nonceOf(burn)).toBe(nonce)
    const before = renewals(nonce)
    await world.untilNextBurnIsAttested()
    expect(renewals(nonce)).toBe(before)
  })

  test('is requested again until it is attested, also after the intent has ended', async () => {
    const { burn, nonce } = await expired()
    const ended = { status: 'failed', error: JSON.stringify({ code: 'BRIDGE_TIMEOUT' }) }
    await world.db('intent').where({ id: burn.intentId }).update(ended)
    await world.waitUntil(() => Promise.resolve(renewals(nonce) >= 3))
  })

  test('is not requested once its mint is signed', async () => {
    const { burn, nonce } = await expired()
    const { operationId } = await world.submitMint(burn, destination)
    await world.db('operation').where({ id: operationId }).update({ state: 'signed' })
    await world.untilNextBurnIsAttested()
    const before = renewals(nonce)
    await world.untilNextBurnIsAttested()
    expect(renewals(nonce)).toBe(before)
    const again = { state: 'deferred', code: 'BRIDGE_TIMEOUT', retry_after: new Date() }
    await world.db('operation').where({ id: operationId }).update(again)
    await world.waitUntil(() => Promise.resolve(renewals(nonce) > before))
  })

  test('is replaced with that of the transaction in which a reorg has mined the burn again', async () => {
    const { burn, nonce } = await expired()
    const tx_hash = hexlify(randomBytes(32))
    await world.db('operation').where({ id: burn.operationId }).update({ tx_hash })
    await world.untilAttested(burn, await world.attest(burn))
    expect(await world.nonceOf(burn)).not.toBe(nonce)
  })

  test('that is valid for one more block of the contracts is not requested', async () => {
    const burn = await world.insertBurned()
    const nonce = await world.attest(burn, { expiresAt: (await world.seenBlock()) + 1n })
    await world.untilAttested(burn, nonce)
    await world.untilNextBurnIsAttested()
    expect(renewals(nonce)).toBe(0)
  })
})

describe('a message that the destination refuses', () => {
  const renewals = (nonce: string) =>
    world.service().requests.filter((request) => request === `POST /v2/reattest/${nonce}`).length
  const refused = { state: 'deferred', code: 'BRIDGE_TIMEOUT', retry_after: new Date() }

  /** A burn whose stored message never expires, and the operation of its mint. */
  async function attested() {
    const burn = await world.insertBurned()
    const nonce = await world.attest(burn)
    await world.untilAttested(burn, nonce)
    const { operationId } = await world.submitMint(burn, destination)
    const set = (values: object) => world.db('operation').where({ id: operationId }).update(values)
    return { burn, nonce, set }
  }

  test('is requested again, and its new signature is stored under the same nonce', async () => {
    const { burn, nonce, set } = await attested()
    const { message } = (await world.burnOf(burn)) ?? {}
    await set(refused)
    await world.attest(burn, { nonce, attestation: '0x02' })
    await world.waitUntil(async () => (await world.burnOf(burn))?.attestation === '0x02')
    expect(await world.burnOf(burn)).toMatchObject({ eventNonce: nonce, message })
    expect(renewals(nonce)).toBe(0)
  })

  test('is requested until the service has another one, and not once its mint is signed', async () => {
    const { burn, set } = await attested()
    const hash = await world.hashOf(burn)
    await set(refused)
    await world.untilRequested(hash, world.service().requestsAbout(hash) + 3)
    await set({ state: 'signed' })
    await world.untilNextBurnIsAttested()
    const before = world.service().requestsAbout(hash)
    await world.untilNextBurnIsAttested()
    expect(world.service().requestsAbout(hash)).toBe(before)
  })

  test('is not requested while its mint only waits', async () => {
    const { burn, set } = await attested()
    const hash = await world.hashOf(burn)
    await set({ ...refused, code: 'RPC_ERROR' })
    const before = world.service().requestsAbout(hash)
    await world.untilNextBurnIsAttested()
    expect(world.service().requestsAbout(hash)).toBe(before)
  })
})
