import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { forgetOperations } from '../world/scenes/forget.js'
import { createWorld, usdcUnits, type Lend, type World } from '../world/fixture.js'
import { executeFirst, spendSameKey } from '../world/scenes/stranger.js'

describe('a signed operation is public', () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterAll(() => world?.stop())

  /** A wallet with a delegation, so that any account can execute its operations. */
  const delegatedWallet = async () => {
    const wallet = await world.createWallet(4n * usdcUnits)
    await world.lend(wallet, usdcUnits)
    await world.round()
    return wallet
  }

  test('a foreign execution counts, and nothing is paid twice', async () => {
    const wallet = await delegatedWallet()
    const lend = await world.lend(wallet, usdcUnits)
    await world.sign()
    const hash = await executeFirst(world, lend.operationId)
    await world.broadcast()
    await world.mine()
    await world.index()
    const row = await world.row(lend.operationId)
    expect(row).toMatchObject({ state: 'confirmed', success: true, tx_hash: hash })
    await world.round()
    expect(await world.deposited(wallet.address)).toBe(2n * usdcUnits)
  })

  test('a foreign execution in the block of our own transaction counts, and the others stay ours', async () => {
    const wallet = await delegatedWallet()
    const ours = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    await world.sign()
    await world.broadcast()
    const theirs = await world.lend(wallet, usdcUnits)
    await world.sign()
    const hash = await executeFirst(world, theirs.operationId)
    await world.index()
    const [own, other] = [await world.row(ours.operationId), await world.row(theirs.operationId)]
    expect(other).toMatchObject({ state: 'confirmed', success: true, tx_hash: hash })
    expect(own).toMatchObject({ state: 'confirmed', success: true, block_hash: other?.block_hash })
    expect(own?.tx_hash).not.toBe(hash)
    await world.round()
    expect(await world.deposited(wallet.address)).toBe(2n * usdcUnits)
  })

  test('its bundle fails: the others are resubmitted alone, with the same signatures', async () => {
    const wallets = [await delegatedWallet(), await delegatedWallet()] as const
    const [one, two] = [
      await world.lend(wallets[0], usdcUnits),
      await world.lend(wallets[1], usdcUnits),
    ]
    await world.sign()
    const signed = await world.row(two.operationId)
    await executeFirst(world, one.operationId)
    await world.broadcast()
    await world.mine()
    await world.index()
    const orphan = { state: 'signed', tx_id: null, payload: signed?.payload }
    expect(await world.row(two.operationId)).toMatchObject(orphan)
    expect(await world.reservation(two.intentId)).toMatchObject({ released_at: null })

    await world.sign()
    expect(await world.row(two.operationId)).toMatchObject(orphan)
    await world.db('operation').where({ id: two.operationId }).update({ leased_until: null })
    await world.round()
    const done = { state: 'confirmed', success: true, payload: signed?.payload }
    expect(await world.row(two.operationId)).toMatchObject(done)
    for (const { address } of wallets) {
      expect(await world.deposited(address)).toBe(2n * usdcUnits)
    }
  })

  test("another account's use of the same key does not count", async () => {
    const lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    await spendSameKey(world, (await world.row(lend.operationId))?.chain_key ?? '')
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'queued' })
    await world.round()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
  })
})

describe('a funding', () => {
  let world: World
  let funding: Lend

  beforeAll(async () => {
    world = await createWorld()
  })
  beforeEach(async () => {
    funding = await world.fund(await world.createWallet(0n))
  })
  afterAll(() => world?.stop())

  const expectPaidOnce = async () => {
    const row = await world.row(funding.operationId)
    expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
    expect(await world.usdcOf(funding.wallet.address)).toBe(usdcUnits)
    return row
  }

  test('pays exactly 1 USDC', async () => {
    await world.round()
    await expectPaidOnce()
  })

  test('is paid once after a restored database has lost it', async () => {
    const chainRow = await world.db('chain').first()
    const headers = await world.db('block_header').select()
    await world.round()
    const { hash } = (await world.sends()).at(-1) ?? { hash: '' }
    await forgetOperations(world.db, [funding.operationId])
    await world.submit(funding.order)

    const before = (await world.transactions()).length
    await world.sign()
    expect(await world.transactions()).toHaveLength(before)

    await world.db('block_header').delete()
    await world.db('block_header').insert(headers)
    await world.db('chain').update(chainRow)
    // No session survives a restore.
    await world.restartDriver()
    await world.index()
    expect(await expectPaidOnce()).toMatchObject({ tx_hash: hash })
  })

  test('is paid once when a foreign account sends our authorization first', async () => {
    await world.sign()
    const hash = await executeFirst(world, funding.operationId)
    await world.broadcast()
    await world.mine()
    await world.index()
    expect(await expectPaidOnce()).toMatchObject({ tx_hash: hash })
    await world.round()
    await expectPaidOnce()
  })
})
