import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { finalizeIntent } from '../../../activities/status.js'
import { createWorld, usdcUnits, type Lend, type World } from '../world/fixture.js'
import { setFrozen } from '../world/scenes/freeze.js'

const failure = { code: 'DEPOSIT_FAILED', message: 'The call failed on chain.', step: 1 }

describe('a reorg after a failure has settled', () => {
  let world: World
  let lend: Lend

  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterAll(() => world?.stop())

  async function mineAgain(): Promise<void> {
    await world.broadcast()
    await world.mine()
    await world.index()
  }
  const end = ({ intentId }: Lend, failed?: typeof failure) =>
    finalizeIntent(world.workerDb, { intentId, ...(failed && { failure: failed }) })
  const statusOf = async ({ intentId }: Lend) =>
    (await world.db('intent').where({ id: intentId }).first<{ status: string }>('status')).status
  const held = { spent_block: null, released_at: null }
  const freed = { spent_block: null, released_at: expect.any(Date) }

  /** The call fails on chain, and its money is free although its block is not final. */
  beforeEach(async () => {
    world.driver().failureHoldSeconds = 0
    lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    await world.sign()
    await setFrozen(world, true)
    await mineAgain()
    await end(lend, failure)
    await setFrozen(world, false)
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: false })
    expect(await world.reservation(lend.intentId)).toMatchObject(freed)
    world.driver().failureHoldSeconds = 300
  })

  /** Replaces the last blocks with empty ones. */
  async function vanish(depth: number): Promise<void> {
    await world.rpc('anvil_reorg', [depth, []])
    await world.mine()
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed' })
  }

  test('reserves the money again, and the intent completes with the money moved once', async () => {
    await vanish(3)
    expect(await world.reservation(lend.intentId)).toMatchObject(held)
    expect(await statusOf(lend)).toBe('executing')
    await mineAgain()
    await end(lend)
    expect(await statusOf(lend)).toBe('completed')
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
  })

  test('of a retried intent reserves both, and the money moves once', async () => {
    const { chainId } = world.chain
    const retry: Lend = await world.lend(lend.wallet, usdcUnits)
    await world.db('intent').where({ id: retry.intentId }).update({ retry_of: lend.intentId })
    await world.round()
    expect(await world.row(retry.operationId)).toMatchObject({ state: 'confirmed', success: true })
    await end(retry)
    await vanish(4)
    for (const { intentId } of [lend, retry])
      expect(await world.reservation(intentId)).toMatchObject(held)
    expect([await statusOf(lend), await statusOf(retry)]).toEqual(['failed', 'executing'])

    await mineAgain()
    const rows = [await world.row(lend.operationId), await world.row(retry.operationId)]
    expect(rows.map((row) => row?.state)).toEqual(['confirmed', 'confirmed'])
    expect(rows.filter((row) => row?.success)).toHaveLength(1)
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
    expect(await world.usdcOf(lend.wallet.address)).toBe(0n)
    const spent = await world
      .db('reservation')
      .where({ wallet_id: lend.wallet.id, chain_id: chainId })
      .whereNotNull('spent_block')
    expect(spent).toHaveLength(1)
  })

  test('of an intent whose money another intent reserved promises no money twice afterwards', async () => {
    const other = await world.lend(lend.wallet, usdcUnits)
    await vanish(3)
    for (const { intentId } of [lend, other])
      expect(await world.reservation(intentId)).toMatchObject(held)
    await mineAgain()
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
    await world.sign()
    // The simulation finds no money left.
    expect(await world.row(other.operationId)).toMatchObject({ state: 'deferred' })
  })
})
