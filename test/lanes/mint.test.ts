import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { finalizeIntent } from '../../activities/status.js'
import { cancelIntent } from '../../db/intents.js'
import { expireOperation } from '../../db/operations.js'
import { bookForeignMints } from '../../lanes/missed.js'
import { createWorld, usdcUnits, type Submitted, type World } from './fixture.js'
import {
  attest,
  createArrival,
  mintAsStranger,
  store,
  submitBurn,
  insertCrossing,
  type Arrival,
} from './crossing.js'

let world: World
let arrival: Arrival

beforeAll(async () => {
  world = await createWorld({ lanes: 1 })
})
afterAll(() => world?.stop())

const arrive = async (order: Parameters<typeof createArrival>[3] = {}) =>
  createArrival(world, await world.createWallet(0n), usdcUnits, order)
const submit = (one: Arrival): Promise<Submitted> => world.submit(one.effect)
const transactions = async () => (await world.transactions()).length
const reorg = (depth: number) => world.rpc('anvil_reorg', [depth, []])

/** The money is there, once; what the deposit is to spend says where it comes from. */
async function expectArrived(
  { intentId, wallet }: Arrival,
  { operationId }: Submitted,
  units = usdcUnits,
  state = 'confirmed',
) {
  const row = await world.row(operationId)
  expect(row).toMatchObject({ state, success: true, units: units.toString() })
  expect(await world.usdcOf(wallet.address)).toBe(units)
  const fed = { from_block: row?.block_number, units: units.toString(), spent_block: null }
  expect(await world.reservation(intentId, 2)).toMatchObject(fed)
  return row
}

describe('a mint', () => {
  beforeEach(async () => {
    arrival = await arrive({ feeUnits: 150n })
  })

  test('is done under the nonce of its message, and what arrived is what its logs say', async () => {
    const submitted = await submit(arrival)
    await world.round()
    const row = await expectArrived(arrival, submitted, usdcUnits - 150n)
    expect(row?.chain_key).toBe(arrival.attested.nonce)
    const receipt = await world.rpc<{ gasUsed: string }>('eth_getTransactionReceipt', [
      row?.tx_hash,
    ])
    expect(row?.gas_used).toBe(BigInt(receipt.gasUsed).toString())
  })

  test('spends nothing here: the burn was the spending', async () => {
    await submit(arrival)
    await world.round()
    expect(await world.reservation(arrival.intentId)).toMatchObject({ spent_block: null })
  })

  test('is done once, however often it is submitted', async () => {
    const submitted = await submit(arrival)
    await world.round()
    const before = await transactions()
    expect(await submit(arrival)).toEqual(submitted)
    await world.round()
    expect(await transactions()).toBe(before)
    await expectArrived(arrival, submitted, usdcUnits - 150n)
  })

  test('goes beside others of its lane, each with what is its own', async () => {
    const other = await arrive()
    const [one, two] = [await submit(arrival), await submit(other)]
    await world.round()
    await expectArrived(arrival, one, usdcUnits - 150n)
    await expectArrived(other, two)
  })
})

describe('a stranger who mints', () => {
  let submitted: Submitted
  beforeEach(async () => {
    arrival = await arrive()
  })

  const expectForeign = async (hash: string, state = 'confirmed') => {
    const row = await expectArrived(arrival, submitted, usdcUnits, state)
    expect(row).toMatchObject({ tx_hash: hash, gas_used: '0' })
    const before = await transactions()
    await world.round()
    expect(await transactions()).toBe(before)
    await expectArrived(arrival, submitted, usdcUnits, state)
  }

  test('while ours is queued has done it, and nothing is signed', async () => {
    submitted = await submit(arrival)
    const hash = await mintAsStranger(world, arrival.attested)
    await world.mine()
    await world.book()
    await expectForeign(hash)
  })

  test('while ours is queued, in a block that is not booked yet, has done it', async () => {
    submitted = await submit(arrival)
    const hash = await mintAsStranger(world, arrival.attested)
    await world.mine()
    await world.sign()
    const found = { state: 'deferred', code: 'MINTED', payload: null }
    expect(await world.row(submitted.operationId)).toMatchObject(found)
    await bookForeignMints(world.driver())
    expect(await world.row(submitted.operationId)).toMatchObject(found)
    await world.book()
    await expectForeign(hash)
  })

  test.each([
    [1, 'confirmed'],
    [30, 'final'],
    [120, 'final'],
  ])('before we have a row has done it: blocks since, %i', async (blocks, state) => {
    const hash = await mintAsStranger(world, arrival.attested)
    await world.mine(blocks)
    await world.book()
    submitted = await submit(arrival)
    await world.sign()
    const found = { state: 'deferred', code: 'MINTED', payload: null }
    expect(await world.row(submitted.operationId)).toMatchObject(found)
    await bookForeignMints(world.driver())
    await world.mine()
    await world.book()
    await expectForeign(hash, state)
  })

  test.each([
    ['in the same block', true],
    ['in a block before', false],
  ])('first, %s, lets ours revert: money once, no gas counted', async (_, isSameBlock) => {
    submitted = await submit(arrival)
    await world.sign()
    const hash = await mintAsStranger(world, arrival.attested)
    if (!isSameBlock) await world.mine()
    await world.broadcast()
    await world.mine()
    const { hash: ours } = (await world.sends()).at(-1) ?? { hash: '' }
    const receipt = { status: '0x0' }
    expect(await world.rpc('eth_getTransactionReceipt', [ours])).toMatchObject(receipt)
    await world.book()
    expect((await world.transactions()).at(-1)).toMatchObject({ state: 'mined' })
    await expectForeign(hash)
  })

  test('two messages in one transaction brings each wallet its own', async () => {
    const other = await arrive({ feeUnits: 7n })
    const [one, two] = [await submit(arrival), await submit(other)]
    await mintAsStranger(world, other.attested, arrival.attested)
    await world.mine()
    await world.book()
    await expectArrived(arrival, one)
    await expectArrived(other, two, usdcUnits - 7n)
  })

  test('two messages of one wallet in one transaction counts neither twice', async () => {
    const { wallet } = arrival
    const other = await createArrival(world, wallet, 3n * usdcUnits)
    const [one, two] = [await submit(arrival), await submit(other)]
    await mintAsStranger(world, arrival.attested, other.attested)
    await world.mine()
    await world.book()
    expect(await world.row(one.operationId)).toMatchObject({ units: '1000000' })
    expect(await world.row(two.operationId)).toMatchObject({ units: '3000000' })
    expect(await world.usdcOf(wallet.address)).toBe(4n * usdcUnits)
  })

  test('another message is not our outcome', async () => {
    submitted = await submit(arrival)
    await mintAsStranger(
      world,
      attest(world, { recipient: arrival.wallet.address, units: usdcUnits }),
    )
    await world.mine()
    await world.book()
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'queued' })
    await world.round()
    expect(await world.row(submitted.operationId)).toMatchObject({ units: '1000000' })
    expect(await world.usdcOf(arrival.wallet.address)).toBe(2n * usdcUnits)
  })
})

describe('a mint whose carrier was reverted', () => {
  test('binds nobody: it is done later, with a message that was attested anew', async () => {
    const head = BigInt(await world.rpc<string>('eth_blockNumber'))
    arrival = await arrive({ expirationBlock: head + 5n })
    const submitted = await submit(arrival)
    await world.sign()
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'signed' })
    await world.mine(5)
    await world.broadcast()
    await world.mine()
    await world.book()
    const deferred = { state: 'deferred', code: 'BRIDGE_TIMEOUT', payload: null, tx_id: null }
    expect(await world.row(submitted.operationId)).toMatchObject(deferred)

    const { nonce } = arrival.attested
    const { wallet, burnId } = arrival
    await store(
      world,
      burnId,
      attest(world, { recipient: wallet.address, units: usdcUnits, nonce }),
    )
    await world.retryNow(submitted)
    await world.round()
    await expectArrived(arrival, submitted)
  })

  test('by a reorg that turns it round is done by the same bytes', async () => {
    arrival = await arrive()
    const submitted = await submit(arrival)
    await world.sign()
    await mintAsStranger(world, arrival.attested)
    await world.mine()
    await world.broadcast()
    await world.mine()
    await world.book()
    const { hash } = (await world.sends()).at(-1) ?? { hash: '' }
    await reorg(2)
    await world.mine()
    await world.book()
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'signed' })
    await world.broadcast()
    await world.mine()
    await world.book()
    expect(await expectArrived(arrival, submitted)).toMatchObject({ tx_hash: hash })
  })
})

describe('nothing ends a mint:', () => {
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
  /** What was burned is the wallet's, but the deposit will not come: its money is free. */
  const expectFree = async ({ operationId }: Submitted) => {
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', units: '1000000' })
    expect(await world.usdcOf(arrival.wallet.address)).toBe(usdcUnits)
    const released = { released_at: expect.any(Date) }
    expect(await world.reservation(arrival.intentId, 2)).toMatchObject(released)
  }

  test('not the time of its step, queued or deferred', async () => {
    const submitted = await submit(arrival)
    await expireOperation(world.workerDb, submitted.operationId)
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'queued' })
    const later = { state: 'deferred', code: 'RPC_ERROR', retry_after: new Date() }
    await world.db('operation').where({ id: submitted.operationId }).update(later)
    await expireOperation(world.workerDb, submitted.operationId)
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'deferred' })
    await world.retryNow(submitted)
    await world.round()
    await expectArrived(arrival, submitted)
  })

  test('not a cancel by its owner', async () => {
    const submitted = await submit(arrival)
    expect(await cancel()).toBe('already_signed')
    await world.round()
    await expectArrived(arrival, submitted)
  })

  test('not the failure of its intent, while it is queued', async () => {
    const submitted = await submit(arrival)
    await timeOut()
    expect(await statusOf()).toBe('failed')
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'queued' })
    await world.round()
    await expectFree(submitted)
  })

  test('not the failure of its intent, before it is submitted', async () => {
    await timeOut()
    const submitted = await submit(arrival)
    expect(await statusOf()).toBe('failed')
    await world.round()
    await expectFree(submitted)
  })

  test('not the failure of its intent, between the signature and the block', async () => {
    const submitted = await submit(arrival)
    await world.sign()
    await timeOut()
    await world.broadcast()
    await world.mine()
    await world.book()
    await expectFree(submitted)
  })

  test('not the failure of its intent, while the signer prepares it', async () => {
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

  test('not a cancelled intent', async () => {
    const submitted = await submit(arrival)
    const error = JSON.stringify({ code: 'CANCELLED', message: 'test' })
    const over = { status: 'failed', error, cancelled_at: new Date() }
    await world.db('intent').where({ id: arrival.intentId }).update(over)
    await world.round()
    await expectArrived(arrival, submitted)
  })

  test('not refusals of its simulation, however many', async () => {
    const good = arrival.attested
    const attestation = `0x${'11'.repeat(65)}`
    await store(world, arrival.burnId, { ...good, attestation })
    const submitted = await submit(arrival)
    for (let i = 0; i < 4; i++) {
      await world.sign()
      const refused = { state: 'deferred', code: 'BRIDGE_TIMEOUT', payload: null }
      expect(await world.row(submitted.operationId)).toMatchObject(refused)
      await world.mine()
      await world.book()
      await world.retryNow(submitted)
    }
    await store(world, arrival.burnId, good)
    await world.round()
    await expectArrived(arrival, submitted)
  })
})

describe('a reorg that takes a mint back', () => {
  beforeEach(async () => {
    arrival = await arrive()
  })

  test('makes its money arrive anew, by the same bytes', async () => {
    const submitted = await submit(arrival)
    await world.round()
    const first = await expectArrived(arrival, submitted)
    await reorg(1)
    await world.mine()
    await world.book()
    const back = { state: 'signed', block_number: null }
    expect(await world.row(submitted.operationId)).toMatchObject(back)
    expect(await world.reservation(arrival.intentId, 2)).toMatchObject({ from_block: null })
    await world.round()
    const again = await expectArrived(arrival, submitted)
    expect(again?.tx_hash).toBe(first?.tx_hash)
    expect(again?.block_number).not.toBe(first?.block_number)
  })

  test('that a stranger has done lets us do it', async () => {
    const submitted = await submit(arrival)
    await mintAsStranger(world, arrival.attested)
    await world.mine()
    await world.book()
    await expectArrived(arrival, submitted)
    await reorg(1)
    await world.mine()
    await world.book()
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'queued' })
    expect(await world.reservation(arrival.intentId, 2)).toMatchObject({ from_block: null })
    await world.round()
    const row = await expectArrived(arrival, submitted)
    expect(BigInt(row?.gas_used ?? 0)).toBeGreaterThan(0n)
  })

  test('is one that a stranger had done, found while it was looked up, lets us do it', async () => {
    await mintAsStranger(world, arrival.attested)
    await world.mine()
    await world.book()
    const submitted = await submit(arrival)
    await world.sign()
    expect(await world.row(submitted.operationId)).toMatchObject({ code: 'MINTED' })
    await reorg(1)
    await bookForeignMints(world.driver())
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'deferred' })
    await world.mine()
    await world.book()
    await world.retryNow(submitted)
    await world.round()
    await expectArrived(arrival, submitted)
  })
})

describe('the signer never mints', () => {
  const expectRefused = async (one: Arrival) => {
    const before = await transactions()
    const { operationId } = await submit(one)
    await world.sign()
    const row = await world.row(operationId)
    expect(row).toMatchObject({ state: 'deferred', code: 'INTERNAL', payload: null })
    expect(row?.message).toMatch(/^Refused to sign/)
    expect(await transactions()).toBe(before)
  }

  test('for another wallet', async () => {
    const { address } = await world.createWallet(0n)
    await expectRefused(await arrive({ recipient: address }))
  })

  test('what belongs on another chain', async () => {
    await expectRefused(await arrive({ destinationDomain: 0 }))
  })

  test('what another contract would receive', async () => {
    await expectRefused(await arrive({ handler: world.contracts.usdc }))
  })

  test('under another key than the nonce of the message', async () => {
    const one = await arrive()
    const { nonce } = (await arrive()).attested
    await expectRefused({ ...one, effect: { ...one.effect, nonce } })
  })

  test('before the message is attested', async () => {
    const crossing = await insertCrossing(
      world,
      await world.createWallet(0n),
      usdcUnits,
      'base-sepolia',
    )
    const { operationId: burnId } = await submitBurn(world, crossing)
    const { effect, attested } = await arrive()
    const { intentId, wallet } = crossing
    const nonce = attested.nonce.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const own = { ...effect, intentId, walletId: wallet.id, nonce }
    await expectRefused({ ...crossing, burnId, attested, effect: own })
  })

  test('for a wallet that is not that of the burn', async () => {
    const one = await arrive()
    const { id: walletId } = await world.createWallet(0n)
    await expectRefused({ ...one, effect: { ...one.effect, walletId } })
  })
})
