import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, usdcUnits, type Lend, type World } from '../world/fixture.js'
import { executeFirst } from '../world/scenes/stranger.js'
import { leaveTreasury, skipPauses } from '../world/treasury.js'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world?.stop())

async function fundMany(count: number): Promise<Lend[]> {
  const fundings: Lend[] = []
  for (let i = 0; i < count; i++) fundings.push(await world.fund(await world.createWallet(0n)))
  return fundings
}

const rowsOf = (fundings: Lend[]) =>
  Promise.all(fundings.map(({ operationId }) => world.row(operationId)))

async function paidUnits(fundings: Lend[]): Promise<bigint> {
  const held = await Promise.all(fundings.map(({ wallet }) => world.usdcOf(wallet.address)))
  return held.reduce((sum, units) => sum + units, 0n)
}

const hasEnded = (state: string | undefined) =>
  ['confirmed', 'final', 'rejected'].includes(state ?? '')

/**
 * Runs rounds until all fundings have ended, and returns their number. A resubmitted funding has its own transaction,
 * one per sender and round. In the worst case all wallets have the same sender, and each funding is included, retried
 * twice and cancelled there.
 */
async function untilEnded(fundings: Lend[]): Promise<number> {
  for (let round = 1; round <= 4 * fundings.length + 2; round++) {
    await skipPauses(world)
    for (const { order } of fundings) await world.submit(order)
    await world.round()
    if ((await rowsOf(fundings)).every((row) => hasEnded(row?.state))) return round
  }
  throw new Error('Not all fundings have ended.')
}

describe('fundings that wait together', () => {
  test('share one transaction per sender, are paid once each, and their gas shares add up to the receipts', async () => {
    const before = (await world.sends()).length
    const fundings = await fundMany(8)
    await world.round()
    const rows = await rowsOf(fundings)
    for (const row of rows) expect(row).toMatchObject({ state: 'confirmed', units: '1000000' })
    expect(await paidUnits(fundings)).toBe(8n * usdcUnits)
    const sends = (await world.sends()).slice(before)
    expect(sends.length).toBeLessThanOrEqual(world.senders.length)
    for (const { hash, tx_id } of sends) {
      const { gasUsed } = await world.rpc<{ gasUsed: string }>('eth_getTransactionReceipt', [hash])
      const included = rows.filter((row) => row?.tx_id === tx_id)
      const sum = included.reduce((total, row) => total + BigInt(row?.gas_used ?? 0), 0n)
      expect(sum).toBe(BigInt(gasUsed))
    }
  })
})

describe('a treasury with money for 3 of 10 fundings', () => {
  test('pays 3, and refuses 7 without gas', async () => {
    await leaveTreasury(world, 3n * usdcUnits)
    await world.mine()
    await world.index()
    const before = (await world.transactions()).length
    const fundings = await fundMany(10)
    await untilEnded(fundings)
    const rows = await rowsOf(fundings)
    expect(rows.filter((row) => row?.success)).toHaveLength(3)
    const refused = rows.filter((row) => row?.state === 'rejected')
    expect(refused).toHaveLength(7)
    for (const row of refused) {
      expect(row).toMatchObject({ code: 'FUNDING_FAILED', payload: null })
      expect(row?.message).toContain('the treasury cannot pay')
    }
    expect(await paidUnits(fundings)).toBe(3n * usdcUnits)
    // Each sender includes the operations of its wallets together.
    expect((await world.transactions()).length - before).toBeLessThanOrEqual(3)
  })

  test('pays 3 and cancels 7, when its money disappears after the signatures', async () => {
    await world.mint(world.treasury, 10n * usdcUnits)
    await world.mine()
    await world.index()
    const before = (await world.transactions()).length
    const fundings = await fundMany(10)
    await world.sign()
    expect((await rowsOf(fundings)).map((row) => row?.state)).toEqual(Array(10).fill('signed'))
    await leaveTreasury(world, 3n * usdcUnits)
    await untilEnded(fundings)
    const rows = await rowsOf(fundings)
    const failed = rows.filter((row) => row?.success === false)
    expect(rows.filter((row) => row?.success)).toHaveLength(3)
    expect(failed).toHaveLength(7)
    expect(failed[0]?.message).toContain('the treasury could not pay')
    expect(await paidUnits(fundings)).toBe(3n * usdcUnits)
    // Each sender sent its wallets' payments together. 7 reverted alone, and each was cancelled once.
    const count = (await world.transactions()).length - before
    expect(count).toBeGreaterThanOrEqual(1 + 7)
    expect(count).toBeLessThanOrEqual(2 + 7)

    // A cancelled funding cannot be paid any more, although its signature is public and there is money again.
    await world.mint(world.treasury, 10n * usdcUnits)
    await world.mine()
    const cancelled = fundings.filter((_, i) => rows[i]?.success === false)
    for (const { operationId } of cancelled.slice(0, 2)) await executeFirst(world, operationId)
    await world.index()
    expect(await paidUnits(fundings)).toBe(3n * usdcUnits)
  })
})

describe('a funding that was reverted', () => {
  const revertOne = async () => {
    await world.mint(world.treasury, usdcUnits)
    await world.mine()
    await world.index()
    const [funding] = (await fundMany(1)) as [Lend]
    await world.sign()
    await leaveTreasury(world, 0n)
    await world.broadcast()
    await world.mine()
    await world.index()
    const { operationId } = funding
    expect(await world.row(operationId)).toMatchObject({ state: 'signed', inclusion_failures: 1 })
    return funding
  }

  test('is paid, once, when the treasury has money again in time', async () => {
    const funding = await revertOne()
    await world.mint(world.treasury, 5n * usdcUnits)
    await world.mine()
    await world.index()
    expect(await untilEnded([funding])).toBe(1)
    const { operationId } = funding
    expect(await world.row(operationId)).toMatchObject({ success: true, inclusion_failures: 0 })
    expect(await paidUnits([funding])).toBe(usdcUnits)
    await world.round()
    expect(await paidUnits([funding])).toBe(usdcUnits)
  })

  test('and executed by a foreign account during its cancellation is paid, and reported as paid', async () => {
    const funding = await revertOne()
    const { operationId } = funding
    await world.db('operation').where({ id: operationId }).update({ inclusion_failures: 3 })
    await skipPauses(world)
    await world.sign()
    expect((await world.row(operationId))?.tx_id).not.toBeNull()
    await world.mint(world.treasury, usdcUnits)
    const hash = await executeFirst(world, operationId)
    await world.broadcast()
    await world.mine()
    await world.index()
    const paid = { state: 'confirmed', success: true, tx_hash: hash, units: '1000000' }
    expect(await world.row(operationId)).toMatchObject(paid)
    expect(await paidUnits([funding])).toBe(usdcUnits)
  })
})
