import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { finalizeIntent } from '../../../activities/status.js'
import { cancelIntent } from '../../../db/intents/intents.js'
import { expireOperation } from '../../../operations/operations.js'
import { createWorld, usdcUnits, type Submitted, type World } from '../world/fixture.js'
import { changeUnbound } from '../world/scenes/unbound.js'
import {
  createArrival,
  expectArrived,
  insertCrossing,
  store,
  submitBurn,
  type Arrival,
} from './crossing.js'

let world: World
let arrival: Arrival

beforeAll(async () => {
  world = await createWorld({ senderCount: 1 })
})
afterAll(() => world?.stop())

const arrive = async (order: Parameters<typeof createArrival>[3] = {}) =>
  createArrival(world, await world.createWallet(0n), usdcUnits, order)
const submit = (one: Arrival): Promise<Submitted> => world.submit(one.order)
const transactions = async () => (await world.transactions()).length

describe('a mint is not ended by:', () => {
  beforeEach(async () => {
    arrival = await arrive()
  })

  const timeOut = () =>
    finalizeIntent(world.workerDb, {
      intentId: arrival.intentId,
      failure: { code: 'BRIDGE_TIMEOUT', message: 'late', step: 1 },
    })
  const cancel = () => cancelIntent(world.db, arrival.wallet.accountId, arrival.intentId)
  const statusOf = async () =>
    (await world.db('intent').where({ id: arrival.intentId }).first<{ status: string }>()).status
  /** The burned money is the wallet's, but the deposit will not happen: its money is free. */
  const expectFree = async ({ operationId }: Submitted) => {
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', units: '1000000' })
    expect(await world.usdcOf(arrival.wallet.address)).toBe(usdcUnits)
    const released = { released_at: expect.any(Date) }
    expect(await world.reservation(arrival.intentId, 2)).toMatchObject(released)
  }

  test('the time limit of its step, queued or deferred', async () => {
    const submitted = await submit(arrival)
    await expireOperation(world.workerDb, submitted.operationId)
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'queued' })
    const later = { state: 'deferred', code: 'RPC_ERROR', retry_after: new Date() }
    await world.db('operation').where({ id: submitted.operationId }).update(later)
    await expireOperation(world.workerDb, submitted.operationId)
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'deferred' })
    await world.retryNow(submitted)
    await world.round()
    await expectArrived(world, arrival, submitted)
  })

  test('a cancel by its owner', async () => {
    const submitted = await submit(arrival)
    expect(await cancel()).toBe('already_signed')
    await world.round()
    await expectArrived(world, arrival, submitted)
  })

  test('the failure of its intent, while it is queued', async () => {
    const submitted = await submit(arrival)
    await timeOut()
    expect(await statusOf()).toBe('failed')
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'queued' })
    await world.round()
    await expectFree(submitted)
  })

  test('the failure of its intent, before it is submitted', async () => {
    await timeOut()
    const submitted = await submit(arrival)
    expect(await statusOf()).toBe('failed')
    await world.round()
    await expectFree(submitted)
  })

  test('the failure of its intent, between the signature and the block', async () => {
    const submitted = await submit(arrival)
    await world.sign()
    await timeOut()
    await world.broadcast()
    await world.mine()
    await world.index()
    await expectFree(submitted)
  })

  test('the failure of its intent, while the signer prepares it', async () => {
    const submitted = await submit(arrival)
    world.proxy.set(async ({ method }) => {
      if (method === 'eth_estimateGas') await timeOut()
      return undefined
    })
    await world.round()
    world.proxy.set(undefined)
    expect(await statusOf()).toBe('failed')
    await expectFree(submitted)
  })

  test('a cancelled intent', async () => {
    const submitted = await submit(arrival)
    const error = JSON.stringify({ code: 'CANCELLED', message: 'test' })
    const ended = { status: 'failed', error, cancelled_at: new Date() }
    await world.db('intent').where({ id: arrival.intentId }).update(ended)
    await world.round()
    await expectArrived(world, arrival, submitted)
  })

  test('any number of refused simulations', async () => {
    const good = arrival.attested
    const attestation = `0x${'11'.repeat(65)}`
    await store(world, arrival.burnId, { ...good, attestation })
    const submitted = await submit(arrival)
    for (let i = 0; i < 4; i++) {
      await world.sign()
      const refused = { state: 'deferred', code: 'BRIDGE_TIMEOUT', payload: null }
      expect(await world.row(submitted.operationId)).toMatchObject(refused)
      await world.mine()
      await world.index()
      await world.retryNow(submitted)
    }
    await store(world, arrival.burnId, good)
    await world.round()
    await expectArrived(world, arrival, submitted)
  })
})

describe('the signer rejects a mint', () => {
  const expectRefused = async (one: Arrival, values?: object) => {
    const before = await transactions()
    const { operationId } = await submit(one)
    if (values) await changeUnbound(world, operationId, values)
    await world.sign()
    const row = await world.row(operationId)
    expect(row).toMatchObject({ state: 'deferred', code: 'INTERNAL', payload: null })
    expect(row?.message).toMatch(/^Signing rejected/)
    expect(await transactions()).toBe(before)
  }

  test('for another wallet', async () => {
    const { address } = await world.createWallet(0n)
    await expectRefused(await arrive({ recipient: address }))
  })

  test('of a message for another chain', async () => {
    await expectRefused(await arrive({ destinationDomain: 0 }))
  })

  test('of a message for another contract', async () => {
    await expectRefused(await arrive({ handler: world.contracts.usdc }))
  })

  test('of a message with less than its step burns', async () => {
    await expectRefused(await arrive({ units: 1n }))
  })

  test('on a chain that is not in the plan', async () => {
    const one = await arrive()
    const plan = world.db.raw(
      `replace(plan::text, '"to":"arbitrum-sepolia"', '"to":"ethereum-sepolia"')::json`,
    )
    await world.db('intent').where({ id: one.intentId }).update({ plan })
    await expectRefused(one)
  })

  test('under another key than the nonce of the message', async () => {
    const one = await arrive()
    const { nonce } = (await arrive()).attested
    await expectRefused(one, { chain_key: nonce })
  })

  test('before the message is attested', async () => {
    const crossing = await insertCrossing(
      world,
      await world.createWallet(0n),
      usdcUnits,
      'base-sepolia',
    )
    const { order } = await submitBurn(world, crossing)
    const { chainId } = world.chain
    const mint = world.submit({ ...order, kind: 'mint', chainId })
    await expect(mint).rejects.toMatchObject({ code: '23502' })
  })

  test('for a wallet other than the one of the burn', async () => {
    const one = await arrive()
    const { id: walletId } = await world.createWallet(0n)
    await expectRefused(one, { wallet_id: walletId })
  })
})
