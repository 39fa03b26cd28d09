import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readSenders } from '../../../operations/signing/signing.js'
import { claimOperations } from '../../../operations/signing/claiming.js'
import { createWorld, usdcUnits, type Lend, type World } from '../world/fixture.js'

describe('exactly once', () => {
  let world: World
  let lend: Lend

  beforeAll(async () => {
    world = await createWorld()
  })
  beforeEach(async () => {
    lend = await world.lend(await world.createWallet(4n * usdcUnits), usdcUnits)
  })
  afterAll(() => world?.stop())

  const expectDoneOnce = async () => {
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
  }
  const endLeases = () =>
    world
      .db('operation')
      .whereNotNull('lease_owner')
      .update({ leased_until: world.db.raw(`clock_timestamp() - interval '1 second'`) })

  /** A signer claims the operation and dies. */
  const takeAndDie = async () => {
    const senders = await readSenders(world.signerDb)
    const claimed = await Promise.all(
      senders.map((sender) =>
        claimOperations(world.signerDb, { ...sender, lateSeconds: 60 }, 'dead'),
      ),
    )
    await endLeases()
    return claimed.flat().length
  }

  test('the same effect submitted twice is one operation', async () => {
    const again = await world.submit(lend.order)
    expect(again.operationId).toBe(lend.operationId)
    await world.round()
    await expectDoneOnce()
  })

  test('the same effect submitted by two workers concurrently is one operation', async () => {
    const intentId = await world.insertLend(lend.wallet, usdcUnits)
    const order = { ...lend.order, intentId }
    const [one, two] = await Promise.all([world.submit(order), world.submit(order)])
    expect(one.operationId).toBe(two.operationId)
    await world.round()
    expect(await world.deposited(lend.wallet.address)).toBe(2n * usdcUnits)
  })

  test('two concurrent signers sign it once', async () => {
    const before = (await world.transactions()).length
    const other = world.createSigner('other')
    await Promise.all([world.sign(), world.sign(other), world.sign(other), world.sign()])
    expect(await world.transactions()).toHaveLength(before + 1)
    await world.round()
    await expectDoneOnce()
  })

  test('a signer that resumes after its lease has expired signs nothing', async () => {
    const before = (await world.transactions()).length
    // The lease expires during the simulation; another signer signs first.
    let woken = false
    world.proxy.set(async ({ method }) => {
      if (method !== 'eth_estimateGas' || woken) return undefined
      woken = true
      await endLeases()
      await world.sign(world.createSigner('other'))
      return undefined
    })
    await world.sign()
    world.proxy.set(undefined)
    expect(await world.transactions()).toHaveLength(before + 1)
    await world.round()
    await expectDoneOnce()
  })

  test('only one of two drivers leads, and the other takes over when it ends', async () => {
    const other = world.createDriver()
    await expect(world.index(other)).rejects.toThrow('Another process is the leader.')
    await world.sign()
    await world.driver().db.destroy()
    await world.waitUntil(async () => {
      await world.broadcast(other)
      return true
    })
    await world.mine()
    await world.index(other)
    await expectDoneOnce()
    await other.db.destroy()
    await world.restartDriver()
  })

  test('an operation of a dead signer is claimed again', async () => {
    expect(await takeAndDie()).toBe(1)
    await world.round()
    await expectDoneOnce()
    expect(await world.row(lend.operationId)).toMatchObject({ lost_leases: 1 })
  })

  test('an operation whose leases keep expiring is claimed alone, then quarantined', async () => {
    for (let i = 0; i < 3; i++) await takeAndDie()
    const neighbour = await world.lend(lend.wallet, usdcUnits)
    expect(await takeAndDie()).toBe(1)
    await takeAndDie()
    await takeAndDie()
    await world.sign()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'deferred', code: 'INTERNAL' })
    await world.round()
    expect(await world.row(neighbour.operationId)).toMatchObject({ state: 'confirmed' })
    await world.retryNow(lend)
    await world.round()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
  })
})
