import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeCctpMessage } from '../../../evm/bridges/cctp/message.js'
import { findBurn } from '../../../operations/burns.js'
import { forge } from '../world/scenes/forge.js'
import { createWorld, finalityBlocks, usdcUnits, type World } from '../world/fixture.js'
import { insertCrossing, setBridgeFee, submitBurn } from './crossing.js'

const here = 'arbitrum-sepolia'
let world: World

beforeAll(async () => {
  world = await createWorld({ senderCount: 1 })
})
afterAll(() => world?.stop())

async function createBurn(units = usdcUnits) {
  const crossing = await insertCrossing(world, await world.createWallet(units), units, here)
  return { ...crossing, ...(await submitBurn(world, crossing)) }
}
const burnOf = async (id: string) => (await findBurn(world.db, id)) ?? {}

describe('a burn', () => {
  test('is indexed with its message, and its money is spent but has not arrived', async () => {
    const { operationId, intentId, wallet } = await createBurn()
    await world.round()
    const row = await world.row(operationId)
    expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
    const burn = await burnOf(operationId)
    expect(burn).toMatchObject({ burnedAt: expect.any(Date), message: null, eventNonce: null })
    const { sent } = burn as { sent: string }
    expect(decodeCctpMessage(sent)).toMatchObject({
      ...{ mintRecipient: wallet.address, messageSender: wallet.address, amount: usdcUnits },
      ...{ sourceDomain: 3, destinationDomain: 6, maxFee: 200n, minFinalityThreshold: 1_000 },
    })
    const spent = { spent_block: row?.block_number, released_at: null }
    expect(await world.reservation(intentId)).toMatchObject(spent)
    expect(await world.reservation(intentId, 2)).toMatchObject({ from_block: null })
    expect(await world.usdcOf(wallet.address)).toBe(0n)
  })

  test('keeps its own message among others in one bundle', async () => {
    const burns = [await createBurn(), await createBurn(), await createBurn(2n * usdcUnits)]
    await world.round()
    const rows = await Promise.all(burns.map(({ operationId }) => world.row(operationId)))
    expect(new Set(rows.map((row) => row?.tx_hash)).size).toBe(1)
    for (const { operationId, wallet, units } of burns) {
      const { sent } = (await burnOf(operationId)) as { sent: string }
      const { mintRecipient, amount } = decodeCctpMessage(sent)
      expect([mintRecipient, amount]).toEqual([wallet.address, units])
    }
  })

  test('that a reorg removes is no longer spent, and is burned once again', async () => {
    const { operationId, intentId, wallet } = await createBurn()
    await world.round()
    const first = await burnOf(operationId)
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.index()
    expect(await world.row(operationId)).toMatchObject({ state: 'signed' })
    expect(await world.reservation(intentId)).toMatchObject({ spent_block: null })
    await world.round()
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', units: '1000000' })
    expect(await burnOf(operationId)).toEqual(first)
    expect(await world.usdcOf(wallet.address)).toBe(0n)
  })

  test.each([
    ['more', '1.000001'],
    ['less', '0.000001'],
  ])('of %s than its request is never signed', async (_, amount) => {
    const { operationId, intentId } = await createBurn()
    await forge(world, intentId, 1, { amount })
    await world.sign()
    const row = await world.row(operationId)
    expect(row).toMatchObject({ state: 'deferred', code: 'INTERNAL', payload: null })
  })
})

describe('a burn that fails', () => {
  test('on the chain has moved nothing, and its money is free when that is final', async () => {
    const { operationId, intentId, wallet } = await createBurn()
    await world.sign()
    await setBridgeFee(world, 10_000n)
    await world.broadcast()
    await world.mine()
    await world.index()
    await setBridgeFee(world, 0n)
    const failed = { state: 'confirmed', success: false, units: null }
    expect(await world.row(operationId)).toMatchObject(failed)
    expect(await burnOf(operationId)).toMatchObject({ sent: null, burnedAt: null })
    const held = { spent_block: null, released_at: null }
    expect(await world.reservation(intentId)).toMatchObject(held)
    expect(await world.usdcOf(wallet.address)).toBe(usdcUnits)

    await world.mine(finalityBlocks)
    await world.index()
    const free = { spent_block: null, released_at: expect.any(Date) }
    expect(await world.reservation(intentId)).toMatchObject(free)
  })

  test('in the simulation is refused at two blocks, and never signed', async () => {
    const before = await world.transactions()
    await setBridgeFee(world, 10_000n)
    await world.index()
    const burn = await createBurn()
    await world.sign()
    const refused = { code: 'BRIDGE_FAILED', payload: null }
    expect(await world.row(burn.operationId)).toMatchObject({ state: 'deferred', ...refused })
    await world.mine()
    await world.index()
    await world.retryNow(burn)
    await world.sign()
    expect(await world.row(burn.operationId)).toMatchObject({ state: 'rejected', ...refused })
    await setBridgeFee(world, 0n)
    await world.index()
    expect(await world.transactions()).toHaveLength(before.length)
  })
})
