import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readContractBlock } from '../../../evm/read.js'
import { indexSpentKeys } from '../../../relayer/foreignExecutions.js'
import { createWorld, usdcUnits, type Submitted, type World } from '../world/fixture.js'
import {
  attest,
  createArrival,
  expectArrived,
  mintAsStranger,
  store,
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
/** Indexes the blocks. The signer reads the keys of unsigned mints as used, and the relayer then finds their logs. */
const indexForeign = async () => {
  await world.index()
  await world.sign()
  await indexSpentKeys(world.driver())
}
const reorg = (depth: number) => world.rpc('anvil_reorg', [depth, []])

describe('a mint', () => {
  beforeEach(async () => {
    arrival = await arrive({ feeUnits: 150n })
  })

  test('is executed under the nonce of its message, and the received amount is that of its logs', async () => {
    const submitted = await submit(arrival)
    await world.round()
    const row = await expectArrived(world, arrival, submitted, usdcUnits - 150n)
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

  test('is executed once, in repeated submissions', async () => {
    const submitted = await submit(arrival)
    await world.round()
    const before = await transactions()
    expect(await submit(arrival)).toEqual(submitted)
    await world.round()
    expect(await transactions()).toBe(before)
    await expectArrived(world, arrival, submitted, usdcUnits - 150n)
  })

  test('shares a transaction with others of its sender, each with its own result', async () => {
    const other = await arrive()
    const [one, two] = [await submit(arrival), await submit(other)]
    await world.round()
    await expectArrived(world, arrival, one, usdcUnits - 150n)
    await expectArrived(world, other, two)
  })
})

describe('a foreign mint', () => {
  let submitted: Submitted
  beforeEach(async () => {
    arrival = await arrive()
  })

  const expectForeign = async (hash: string, state = 'confirmed') => {
    const row = await expectArrived(world, arrival, submitted, usdcUnits, state)
    expect(row).toMatchObject({ tx_hash: hash, gas_used: '0' })
    const before = await transactions()
    await world.round()
    expect(await transactions()).toBe(before)
    await expectArrived(world, arrival, submitted, usdcUnits, state)
  }

  test('while ours is queued counts, and nothing is signed', async () => {
    submitted = await submit(arrival)
    const hash = await mintAsStranger(world, arrival.attested)
    await world.mine()
    await world.index()
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'queued' })
    await indexForeign()
    await world.mine()
    await world.index()
    await expectForeign(hash)
  })

  test('while ours is queued, in a block that is not indexed yet, counts', async () => {
    submitted = await submit(arrival)
    const hash = await mintAsStranger(world, arrival.attested)
    await world.mine()
    await world.sign()
    const found = { state: 'deferred', code: 'MINTED', payload: null }
    expect(await world.row(submitted.operationId)).toMatchObject(found)
    await indexSpentKeys(world.driver())
    expect(await world.row(submitted.operationId)).toMatchObject(found)
    await world.index()
    await expectForeign(hash)
  })

  test.each([
    [1, 'confirmed'],
    [30, 'final'],
    [120, 'final'],
  ])('before our row exists counts: blocks since, %i', async (blocks, state) => {
    const hash = await mintAsStranger(world, arrival.attested)
    await world.mine(blocks)
    await world.index()
    submitted = await submit(arrival)
    await world.sign()
    const found = { state: 'deferred', code: 'MINTED', payload: null }
    expect(await world.row(submitted.operationId)).toMatchObject(found)
    await indexSpentKeys(world.driver())
    await world.mine()
    await world.index()
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
    await world.index()
    expect((await world.transactions()).at(-1)).toMatchObject({ state: 'mined' })
    await expectForeign(hash)
  })

  test('of two messages in one transaction pays each wallet its own', async () => {
    const other = await arrive({ feeUnits: 7n })
    const [one, two] = [await submit(arrival), await submit(other)]
    await mintAsStranger(world, other.attested, arrival.attested)
    await world.mine()
    await indexForeign()
    await world.mine()
    await world.index()
    await expectArrived(world, arrival, one)
    await expectArrived(world, other, two, usdcUnits - 7n)
  })

  test('of two messages of one wallet in one transaction counts neither twice', async () => {
    const { wallet } = arrival
    const other = await createArrival(world, wallet, 3n * usdcUnits)
    const [one, two] = [await submit(arrival), await submit(other)]
    await mintAsStranger(world, arrival.attested, other.attested)
    await world.mine()
    await indexForeign()
    expect(await world.row(one.operationId)).toMatchObject({ units: '1000000' })
    expect(await world.row(two.operationId)).toMatchObject({ units: '3000000' })
    expect(await world.usdcOf(wallet.address)).toBe(4n * usdcUnits)
  })

  test('of another message does not count for ours', async () => {
    submitted = await submit(arrival)
    await mintAsStranger(
      world,
      attest(world, { recipient: arrival.wallet.address, units: usdcUnits }),
    )
    await world.mine()
    await world.index()
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'queued' })
    await world.round()
    expect(await world.row(submitted.operationId)).toMatchObject({ units: '1000000' })
    expect(await world.usdcOf(arrival.wallet.address)).toBe(2n * usdcUnits)
  })
})

describe('a mint whose transaction was reverted', () => {
  test('is executed later, with a renewed attestation', async () => {
    const { client } = world.driver()
    // The next block may raise the block number of Arbitrum's contracts by one, so the message expires one later.
    const expirationBlock = (await readContractBlock(client)) + 2n
    arrival = await arrive({ expirationBlock })
    const submitted = await submit(arrival)
    await world.sign()
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'signed' })
    while ((await readContractBlock(client)) < expirationBlock) await world.mine(5)
    await world.broadcast()
    await world.mine()
    await world.index()
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
    await expectArrived(world, arrival, submitted)
  })

  test('is executed by the same bytes after a reorg', async () => {
    arrival = await arrive()
    const submitted = await submit(arrival)
    await world.sign()
    await mintAsStranger(world, arrival.attested)
    await world.mine()
    await world.broadcast()
    await world.mine()
    await world.index()
    const { hash } = (await world.sends()).at(-1) ?? { hash: '' }
    await reorg(2)
    await world.mine()
    await world.index()
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'signed' })
    await world.broadcast()
    await world.mine()
    await world.index()
    expect(await expectArrived(world, arrival, submitted)).toMatchObject({ tx_hash: hash })
  })
})

describe('a reorg that removes a mint', () => {
  beforeEach(async () => {
    arrival = await arrive()
  })

  test('makes its money arrive again, by the same bytes', async () => {
    const submitted = await submit(arrival)
    await world.round()
    const first = await expectArrived(world, arrival, submitted)
    await reorg(1)
    await world.mine()
    await world.index()
    const back = { state: 'signed', block_number: null }
    expect(await world.row(submitted.operationId)).toMatchObject(back)
    expect(await world.reservation(arrival.intentId, 2)).toMatchObject({ from_block: null })
    await world.round()
    const again = await expectArrived(world, arrival, submitted)
    expect(again?.tx_hash).toBe(first?.tx_hash)
    expect(again?.block_number).not.toBe(first?.block_number)
  })

  test('of a foreign account makes us mint', async () => {
    const submitted = await submit(arrival)
    await mintAsStranger(world, arrival.attested)
    await world.mine()
    await indexForeign()
    await expectArrived(world, arrival, submitted, usdcUnits, 'mined')
    await reorg(1)
    await world.mine()
    await world.index()
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'queued' })
    expect(await world.reservation(arrival.intentId, 2)).toMatchObject({ from_block: null })
    await world.round()
    const row = await expectArrived(world, arrival, submitted)
    expect(BigInt(row?.gas_used ?? 0)).toBeGreaterThan(0n)
  })

  test('of a foreign account, found during the search, makes us mint', async () => {
    await mintAsStranger(world, arrival.attested)
    await world.mine()
    await world.index()
    const submitted = await submit(arrival)
    await world.sign()
    expect(await world.row(submitted.operationId)).toMatchObject({ code: 'MINTED' })
    await reorg(1)
    await indexSpentKeys(world.driver())
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'deferred' })
    await world.mine()
    await world.index()
    await world.retryNow(submitted)
    await world.round()
    await expectArrived(world, arrival, submitted)
  })
})
