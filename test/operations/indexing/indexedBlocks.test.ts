import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  confirmUpTo,
  finalizeUpTo,
  findChainState,
  insertChain,
  insertHeaders,
  readHeaders,
  setIndexed,
  type BlockId,
} from '../../../operations/indexing/indexedBlocks.js'
import { setMined, type MinedOperation } from '../../../operations/indexing/outcomes.js'
import { rollBack } from '../../../operations/indexing/rollBack.js'
import {
  findOperationsByKey,
  hasOpenOperations,
  readOpenSends,
} from '../../../operations/indexing/watched.js'
import { insertReservation } from '../../../db/intents/reservations.js'
import { newId } from '../../../db/client/ids.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { insertTestIntent, insertTestOperation, insertTestWallet } from '../../db/rows.js'

/** A chain that is indexed up to `height`, final twenty blocks below, with one sender. */
type Indexed = { id: number; height: bigint; sender: string }
/** The rows of one step that was mined in a block. */
type MinedStep = { intentId: string; operationId: string; txId: string; key: string }

let database: TestDatabase
let chains = 1_000
let low: Indexed
let high: Indexed

beforeAll(async () => {
  database = await createDatabase()
  await database.db('kek').insert({ id: 'kek', public_key: Buffer.alloc(32), active: true })
})
afterAll(() => database?.drop())
beforeEach(async () => {
  low = await createIndexed(100n)
  high = await createIndexed(100_000_000n)
})

const blockOf = (chain: { id: number }, number: bigint): BlockId => ({
  number,
  hash: `0x${chain.id}/${number}`,
})

async function createIndexed(height: bigint): Promise<Indexed> {
  const chain = { id: ++chains, height, sender: newId('sender_') }
  const [at, finalized] = [blockOf(chain, height), blockOf(chain, height - 20n)]
  await insertChain(database.db, { id: chain.id, name: `chain-${chain.id}`, at: finalized })
  const headers = [height - 10n, height - 5n, height].map((number) => blockOf(chain, number))
  await insertHeaders(database.db, chain.id, headers)
  await setIndexed(database.db, chain.id, { from: finalized, to: at })
  const owner = { chain_id: chain.id, sender: chain.sender }
  await database.db('sender').insert({ ...owner, kek_id: 'kek', sealed_key: Buffer.alloc(1) })
  return chain
}

/** A step whose operation and transaction are in a block, with its money spent and delivered there. */
async function insertMinedStep(
  chain: Indexed,
  block: bigint,
  values: { state?: string; success?: boolean } = {},
): Promise<MinedStep> {
  const { db } = database
  const { state = 'mined', success = true } = values
  const wallet = await insertTestWallet(db)
  const intentId = await insertTestIntent(db, wallet, 'executing')
  const at = { block_number: block.toString(), block_hash: blockOf(chain, block).hash }
  const txId = await insertTransaction(chain, { state: 'mined', mined_send: 1, ...at })
  const key = newId('key_')
  const own = { chain_id: chain.id, chain_key: key, tx_id: txId }
  const mined = { tx_hash: newId('0x'), log_index: 0, gas_used: 0, gas_cost_usd: 0 }
  const verdict = { state, success, ...mined, ...at }
  const operationId = await insertTestOperation(db, wallet, intentId, { ...own, ...verdict })
  const money = { intentId, walletId: wallet.id, chainId: chain.id, token: '0xAA', units: 5n }
  await insertReservation(db, { ...money, sequence: 1 })
  await insertReservation(db, { ...money, sequence: 2, fedBy: 1 })
  const moved = success ? block.toString() : null
  await db('reservation').where({ intent_id: intentId, sequence: 1 }).update({ spent_block: moved })
  await db('reservation').where({ intent_id: intentId, sequence: 2 }).update({ from_block: moved })
  return { intentId, operationId, txId, key }
}

let nonces = 0
async function insertTransaction(chain: Indexed, values: object): Promise<string> {
  const { id, sender } = chain
  const [row] = await database
    .db('chain_tx')
    .insert({ chain_id: id, sender, nonce: ++nonces, ...values })
    .returning<{ id: bigint }[]>('id')
  const txId = String(row?.id)
  const send = { tx_id: txId, n: 1, hash: `0x${txId}`, raw: '0x', max_fee: 1 }
  await database.db('chain_tx_send').insert(send)
  return txId
}

/** The whole indexed state of a chain. */
async function readRows({ id }: Indexed) {
  const { db } = database
  const at = { chain_id: id }
  return {
    chain: await db('chain').where({ id }).first<object>(),
    headers: await readHeaders(db, id),
    operations: await db('operation').where(at).orderBy('id').select<object[]>(),
    transactions: await db('chain_tx').where(at).orderBy('id').select<object[]>(),
    reservations: await db('reservation')
      .where(at)
      .orderBy(['intent_id', 'sequence'])
      .select<object[]>(),
  }
}

const operationOf = ({ operationId }: MinedStep) =>
  database.db('operation').where({ id: operationId }).first<Record<string, unknown>>()
const transactionOf = ({ txId }: MinedStep) =>
  database.db('chain_tx').where({ id: txId }).first<Record<string, unknown>>()
const reservationOf = ({ intentId }: { intentId: string }, sequence = 1) =>
  database
    .db('reservation')
    .where({ intent_id: intentId, sequence })
    .first<Record<string, unknown>>()

describe('two chains of very different height', () => {
  test('confirming on one changes no operation on the other', async () => {
    const own = await insertMinedStep(high, high.height - 1n)
    await insertMinedStep(low, low.height - 1n)
    const before = await readRows(low)
    await confirmUpTo(database.db, high.id, { block: high.height })
    expect(await operationOf(own)).toMatchObject({ state: 'confirmed' })
    expect(await readRows(low)).toEqual(before)
  })

  test('finalizing on one keeps the outcomes, reservations and headers of the other', async () => {
    const own = await insertMinedStep(high, high.height - 6n, { state: 'confirmed' })
    const lost = { state: 'confirmed', success: false }
    const failed = await insertMinedStep(high, high.height - 6n, lost)
    await insertMinedStep(low, low.height - 6n, { state: 'confirmed' })
    await insertMinedStep(low, low.height - 6n, lost)
    const before = await readRows(low)
    await finalizeUpTo(database.db, high.id, blockOf(high, high.height - 5n))
    for (const step of [own, failed]) {
      expect(await operationOf(step)).toMatchObject({ state: 'final' })
      expect(await transactionOf(step)).toMatchObject({ state: 'final' })
    }
    expect(await reservationOf(failed)).toMatchObject({ released_at: expect.any(Date) })
    expect(await readHeaders(database.db, high.id)).toHaveLength(2)
    expect(await findChainState(database.db, high.id)).toMatchObject({
      finalizedBlock: high.height - 5n,
    })
    expect(await readRows(low)).toEqual(before)
  })

  test('a final block whose header only the other one stores changes nothing', async () => {
    await insertMinedStep(low, low.height - 6n, { state: 'confirmed' })
    const foreign = { number: low.height - 5n, hash: '0xforeign' }
    await insertHeaders(database.db, high.id, [foreign])
    const before = await readRows(low)
    await finalizeUpTo(database.db, low.id, foreign)
    expect(await readRows(low)).toEqual(before)
  })

  test('a rollback on one keeps blocks, outcomes, transactions and reservations of the other', async () => {
    const gone = await insertMinedStep(low, low.height - 3n, { state: 'confirmed' })
    const kept = await insertMinedStep(low, low.height - 7n, { state: 'confirmed' })
    await insertMinedStep(high, high.height - 3n, { state: 'confirmed' })
    await insertMinedStep(high, high.height - 3n)
    const before = await readRows(high)
    const to = blockOf(low, low.height - 5n)
    await rollBack(database.db, low.id, { from: blockOf(low, low.height), to })
    expect(await operationOf(gone)).toMatchObject({ block_number: null, block_hash: null })
    expect(await transactionOf(gone)).toMatchObject({ state: 'open', mined_send: null })
    expect(await reservationOf(gone)).toMatchObject({ spent_block: null })
    expect(await reservationOf(gone, 2)).toMatchObject({ from_block: null })
    expect(await operationOf(kept)).toMatchObject({ state: 'confirmed' })
    expect(await transactionOf(kept)).toMatchObject({ state: 'mined' })
    expect(await reservationOf(kept)).toMatchObject({ spent_block: low.height - 7n })
    expect(await reservationOf(kept, 2)).toMatchObject({ from_block: low.height - 7n })
    expect((await readHeaders(database.db, low.id))[0]).toEqual(to)
    expect(await findChainState(database.db, low.id)).toMatchObject({ indexed: to })
    expect(await readRows(high)).toEqual(before)
  })

  test('a rollback on one changes no operation without a transaction on the other', async () => {
    const { operationId } = await insertMinedStep(high, high.height - 3n)
    const back = { state: 'signed', block_number: null, block_hash: null }
    await database.db('operation').where({ id: operationId }).update(back)
    const before = await readRows(high)
    const to = blockOf(low, low.height - 5n)
    await rollBack(database.db, low.id, { from: blockOf(low, low.height), to })
    expect(await readRows(high)).toEqual(before)
  })

  test('the indexed block of one moves, although both began at the same block', async () => {
    const same = { number: 0n, hash: '0xgenesis' }
    const [one, other] = [++chains, ++chains]
    for (const id of [one, other]) {
      await insertChain(database.db, { id, name: `chain-${id}`, at: same })
    }
    await setIndexed(database.db, one, { from: same, to: { number: 1n, hash: '0x1' } })
    expect(await findChainState(database.db, one)).toMatchObject({ indexed: { number: 1n } })
    expect(await findChainState(database.db, other)).toMatchObject({ indexed: same })
  })

  test('queries for one return no rows of the other', async () => {
    const step = await insertMinedStep(high, high.height, { state: 'final' })
    await insertTransaction(high, {})
    const { db } = database
    const wallet = await insertTestWallet(db)
    const open = { chain_id: high.id, chain_key: newId('key_'), state: 'queued' }
    await insertTestOperation(db, wallet, await insertTestIntent(db, wallet, 'executing'), open)
    const answersOf = async ({ id }: Indexed) => ({
      waiting: await hasOpenOperations(db, id),
      open: (await readOpenSends(db, id)).length,
      byKey: (await findOperationsByKey(db, id, [step.key])).length,
      headers: (await readHeaders(db, id)).map(({ number }) => number),
    })
    const all = { waiting: true, open: 1, byKey: 1 }
    const none = { waiting: false, open: 0, byKey: 0 }
    const headersOf = ({ height }: Indexed) => [0n, 5n, 10n, 20n].map((below) => height - below)
    expect(await answersOf(high)).toEqual({ ...all, headers: headersOf(high) })
    expect(await answersOf(low)).toEqual({ ...none, headers: headersOf(low) })
  })
})

describe('the boundary of a block', () => {
  test('operations in the confirmed block are confirmed, one block above they are not', async () => {
    const [at, above] = [
      await insertMinedStep(low, low.height - 1n),
      await insertMinedStep(low, low.height),
    ]
    await confirmUpTo(database.db, low.id, { block: low.height - 1n })
    expect(await operationOf(at)).toMatchObject({ state: 'confirmed' })
    expect(await operationOf(above)).toMatchObject({ state: 'mined' })
  })

  test('operations confirmed in the final block are final; mined ones, and those one block above, are not', async () => {
    const upTo = low.height - 5n
    const at = await insertMinedStep(low, upTo, { state: 'confirmed' })
    const above = await insertMinedStep(low, upTo + 1n, { state: 'confirmed' })
    const mined = await insertMinedStep(low, upTo)
    await finalizeUpTo(database.db, low.id, blockOf(low, upTo))
    expect(await operationOf(at)).toMatchObject({ state: 'final' })
    expect(await reservationOf(at)).toMatchObject({ spent_block: upTo, released_at: null })
    expect(await operationOf(above)).toMatchObject({ state: 'confirmed' })
    expect(await transactionOf(above)).toMatchObject({ state: 'mined' })
    expect(await operationOf(mined)).toMatchObject({ state: 'mined' })
  })

  test('a rollback keeps the operations in the block that it goes back to', async () => {
    const to = blockOf(low, low.height - 5n)
    const at = await insertMinedStep(low, to.number, { state: 'confirmed' })
    const above = await insertMinedStep(low, to.number + 1n, { state: 'confirmed' })
    await rollBack(database.db, low.id, { from: blockOf(low, low.height), to })
    expect(await operationOf(at)).toMatchObject({ state: 'confirmed' })
    expect(await operationOf(above)).toMatchObject({ block_number: null })
  })

  test('a final block of another fork finalizes nothing, releases no money and deletes no header', async () => {
    await insertMinedStep(low, low.height - 6n, { state: 'confirmed', success: false })
    const before = await readRows(low)
    await finalizeUpTo(database.db, low.id, { number: low.height - 5n, hash: '0xother' })
    expect(await readRows(low)).toEqual(before)
  })

  test('an outdated leader cannot move the indexed block', async () => {
    const before = await readRows(low)
    const move = { from: blockOf(low, low.height - 5n), to: blockOf(low, low.height + 1n) }
    await expect(setIndexed(database.db, low.id, move)).rejects.toThrow('moved the indexed block')
    expect(await readRows(low)).toEqual(before)
  })
})

describe('setMined: reservations', () => {
  /** A queued operation with its reservation, and the reservation that it feeds. */
  async function insertQueued(kind: string) {
    const { db } = database
    const wallet = await insertTestWallet(db)
    const intentId = await insertTestIntent(db, wallet, 'executing')
    const operationId = await insertTestOperation(db, wallet, intentId, { kind, chain_id: low.id })
    const money = { intentId, walletId: wallet.id, chainId: low.id, token: '0xAA', units: 5n }
    await insertReservation(db, { ...money, sequence: 1 })
    await insertReservation(db, { ...money, sequence: 2, fedBy: 1 })
    return { intentId, operationId }
  }
  const index = (id: string, values: Partial<MinedOperation> = {}) =>
    setMined(database.db, [
      {
        ...{ id, success: true, txHash: '0x', block: blockOf(low, 100n), logIndex: 0, gasUsed: 1n },
        ...{ gasCostUsd: 0, units: 7n, messageSent: undefined, refusal: undefined },
        ...values,
      },
    ])

  test('a success spends the money of the step and delivers the input of the next one', async () => {
    const step = await insertQueued('withdraw')
    const neighbour = await insertQueued('withdraw')
    await index(step.operationId)
    expect(await reservationOf(step)).toMatchObject({ spent_block: 100n, units: '5' })
    expect(await reservationOf(step, 2)).toMatchObject({ from_block: 100n, units: '7' })
    expect(await reservationOf(neighbour)).toMatchObject({ spent_block: null })
    expect(await reservationOf(neighbour, 2)).toMatchObject({ from_block: null, units: '5' })
  })

  test('a failure spends nothing and delivers nothing', async () => {
    const step = await insertQueued('withdraw')
    await index(step.operationId, { success: false })
    expect(await reservationOf(step)).toMatchObject({ spent_block: null })
    expect(await reservationOf(step, 2)).toMatchObject({ from_block: null, units: '5' })
  })

  test('a burn spends, and has no output on the other chain yet', async () => {
    const step = await insertQueued('bridge')
    await index(step.operationId)
    expect(await reservationOf(step)).toMatchObject({ spent_block: 100n })
    expect(await reservationOf(step, 2)).toMatchObject({ from_block: null, units: '5' })
  })

  test('a mint delivers and spends nothing, because its block number is not of the chain of the burn', async () => {
    const step = await insertQueued('mint')
    await index(step.operationId)
    expect(await reservationOf(step)).toMatchObject({ spent_block: null })
    expect(await reservationOf(step, 2)).toMatchObject({ from_block: 100n, units: '7' })
  })
})
