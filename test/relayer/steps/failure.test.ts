import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, finalityBlocks, usdcUnits, type Lend, type World } from '../world/fixture.js'
import { setFrozen } from '../world/scenes/freeze.js'

describe('a call that fails', () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterAll(() => world?.stop())

  describe('on the chain, after its simulation succeeded', () => {
    let lend: Lend
    beforeAll(async () => {
      lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
      await world.sign()
      await setFrozen(world, true)
      await world.broadcast()
      await world.mine()
      await world.index()
    })
    afterAll(() => setFrozen(world, false))

    test('is reported as failed, although its transaction succeeded', async () => {
      const row = await world.row(lend.operationId)
      const message = 'the reserve is frozen (Aave 28)'
      expect(row).toMatchObject({ state: 'confirmed', success: false, units: null, message })
      const [tx] = await world.transactions()
      expect(tx).toMatchObject({ state: 'mined' })
      expect(await world.usdcOf(lend.wallet.address)).toBe(usdcUnits)
    })

    test('keeps its reservation until a reorg of its block is unlikely', async () => {
      const held = { spent_block: null, released_at: null }
      await world.mine(2)
      await world.index()
      expect(await world.reservation(lend.intentId)).toMatchObject(held)
      world.driver().failureHoldSeconds = 0
      await world.mine()
      await world.index()
      world.driver().failureHoldSeconds = 300
      expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed' })
      const freed = { spent_block: null, released_at: expect.any(Date) }
      expect(await world.reservation(lend.intentId)).toMatchObject(freed)
    })

    test('keeps its reservation until no reorg can change the failure', async () => {
      await world
        .db('reservation')
        .where({ intent_id: lend.intentId })
        .update({ released_at: null })
      await world.mine(finalityBlocks)
      await world.index()
      const reservation = await world.reservation(lend.intentId)
      expect(reservation).toMatchObject({ spent_block: null, released_at: expect.any(Date) })
    })

    test('is not retried', async () => {
      const before = await world.transactions()
      await world.submit(lend.order)
      await world.round()
      expect(await world.transactions()).toHaveLength(before.length)
    })
  })

  test('in the simulation is refused at two blocks, and never signed', async () => {
    const before = (await world.transactions()).length
    const lend = await world.lend(await world.createWallet(usdcUnits), 2n * usdcUnits)
    await world.sign()
    const first = await world.row(lend.operationId)
    expect(first).toMatchObject({ state: 'deferred', code: 'DEPOSIT_FAILED', payload: null })
    expect(first?.message).toContain('The call would fail: ERC20: transfer amount exceeds balance')

    await world.retryNow(lend)
    await world.sign()
    const sameBlock = { state: 'deferred', refused_block: first?.refused_block }
    expect(await world.row(lend.operationId)).toMatchObject(sameBlock)

    await world.mine()
    await world.index()
    await world.retryNow(lend)
    await world.sign()
    const last = { state: 'rejected', code: 'DEPOSIT_FAILED', payload: null }
    expect(await world.row(lend.operationId)).toMatchObject(last)
    expect(await world.transactions()).toHaveLength(before)
  })

  test('in one simulation may succeed in the next', async () => {
    const wallet = await world.createWallet(usdcUnits)
    await setFrozen(world, true)
    await world.index()
    const lend = await world.lend(wallet, usdcUnits)
    await world.sign()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'deferred' })
    await setFrozen(world, false)
    await world.index()
    await world.retryNow(lend)
    await world.round()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
  })

  test('does not stop the signatures of other operations', async () => {
    const poor = await world.lend(await world.createWallet(usdcUnits), 2n * usdcUnits)
    const broken = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    const good = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    await world
      .db('wallet_secret')
      .where({ wallet_id: broken.wallet.id })
      .update({ sealed: Buffer.alloc(113, 1) })
    await world.round()
    expect(await world.row(good.operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await world.row(poor.operationId)).toMatchObject({ code: 'DEPOSIT_FAILED' })
    const row = await world.row(broken.operationId)
    expect(row).toMatchObject({ state: 'deferred', code: 'INTERNAL', payload: null })
  })
})
