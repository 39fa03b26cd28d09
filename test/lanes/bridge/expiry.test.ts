import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hexlify, randomBytes } from 'ethers'
import { createAttestingWorld, destination, type AttestingWorld, type Burn } from './attesting.js'

let world: AttestingWorld
beforeAll(async () => {
  world = await createAttestingWorld()
})
beforeEach(() => world.restart())
afterAll(() => world?.stop())

describe('a message that has expired', () => {
  const renewals = (nonce: string) =>
    world.service().asked.filter((question) => question === `POST /v2/reattest/${nonce}`).length

  async function expired(): Promise<{ burn: Burn; nonce: string }> {
    const burn = await world.insertBurned()
    const nonce = await world.tell(burn, { expiresAt: await world.seenBlock() })
    await world.waitUntil(() => Promise.resolve(renewals(nonce) > 0))
    expect(await world.burnOf(burn)).toMatchObject({ eventNonce: nonce })
    return { burn, nonce }
  }
  test('is attested anew, under the same nonce', async () => {
    const { burn, nonce } = await expired()
    const { message } = (await world.burnOf(burn)) ?? {}
    await world.tell(burn, { nonce })
    await world.waitUntil(async () => (await world.burnOf(burn))?.message !== message)
    expect(await world.nonceOf(burn)).toBe(nonce)
    const before = renewals(nonce)
    await world.untilRoundsArePast()
    expect(renewals(nonce)).toBe(before)
  })

  test('is asked for anew as long as it takes, also after the intent has ended', async () => {
    const { burn, nonce } = await expired()
    const over = { status: 'failed', error: JSON.stringify({ code: 'BRIDGE_TIMEOUT' }) }
    await world.db('intent').where({ id: burn.intentId }).update(over)
    await world.waitUntil(() => Promise.resolve(renewals(nonce) >= 3))
  })

  test('is left alone once its mint is signed', async () => {
    const { burn, nonce } = await expired()
    const { operationId } = await world.submitMint(burn, nonce, destination)
    await world.db('operation').where({ id: operationId }).update({ state: 'signed' })
    await world.untilRoundsArePast()
    const before = renewals(nonce)
    await world.untilRoundsArePast()
    expect(renewals(nonce)).toBe(before)
    const again = { state: 'deferred', code: 'BRIDGE_TIMEOUT', retry_after: new Date() }
    await world.db('operation').where({ id: operationId }).update(again)
    await world.waitUntil(() => Promise.resolve(renewals(nonce) > before))
  })

  test('gives way to that of the transaction in which a reorg has mined the burn again', async () => {
    const { burn, nonce } = await expired()
    const tx_hash = hexlify(randomBytes(32))
    await world.db('operation').where({ id: burn.operationId }).update({ tx_hash })
    await world.untilAttested(burn, await world.tell(burn))
    expect(await world.nonceOf(burn)).not.toBe(nonce)
  })

  test('that lasts a block longer, as contracts count blocks, is left alone', async () => {
    const burn = await world.insertBurned()
    const nonce = await world.tell(burn, { expiresAt: (await world.seenBlock()) + 1n })
    await world.untilAttested(burn, nonce)
    await world.untilRoundsArePast()
    expect(renewals(nonce)).toBe(0)
  })
})
