import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expireOperation, findOperation, requeueOperation } from '../../../operations/operations.js'
import {
  refuseOperation,
  returnOperation,
  type Sender,
} from '../../../operations/signing/signing.js'
import { lockClaimed, claimOperations } from '../../../operations/signing/claiming.js'
import { newId } from '../../../db/client/ids.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../../db/rows.js'
import type { LifecycleStatus } from '../../../domain/intent/intent.js'

const leaseOwner = 'signer'

const lateSeconds = 60
let database: TestDatabase
let chains = 1_000
/** The only sender of a new chain. */
let sender: Sender
let wallet: TestWallet
let intentId: string

beforeAll(async () => {
  database = await createDatabase()
  await database.db('kek').insert({ id: 'kek', public_key: Buffer.alloc(32), active: true })
  wallet = await insertTestWallet(database.db)
})
afterAll(() => database?.drop())
beforeEach(async () => {
  sender = {
    chainId: BigInt(++chains),
    address: newId('0x'),
    kekId: 'kek',
    sealedKey: Buffer.alloc(1),
    purpose: 'operations',
  }
  const { address, kekId: kek_id, sealedKey: sealed_key } = sender
  await database.db('sender').insert({ chain_id: chains, sender: address, kek_id, sealed_key })
  intentId = await insertTestIntent(database.db, wallet, 'executing')
})

type OperationFields = Record<string, unknown>

const insert = (values: OperationFields = {}, of = intentId) =>
  insertTestOperation(database.db, wallet, of, { chain_id: chains, ...values })
const row = (id: string) => database.db('operation').where({ id }).first<OperationFields>()
const claim = async (by = leaseOwner) =>
  (await claimOperations(database.db, { ...sender, lateSeconds }, by)).map(({ id }) => id)
const inMs = (ms: number) => new Date(Date.now() + ms)
const HOUR_MS = 3_600_000

async function insertTransaction(): Promise<string> {
  const [tx] = await database
    .db('chain_tx')
    .insert({ chain_id: chains, sender: sender.address, nonce: 0 })
    .returning<{ id: bigint }[]>('id')
  return String(tx?.id)
}
const inBlock = { block_number: 1, block_hash: '0x01' }
const deferred = { state: 'deferred', code: 'RPC_ERROR', retry_after: inMs(-HOUR_MS) }
const states: [string, OperationFields, takable: boolean][] = [
  ['queued', { state: 'queued' }, true],
  ['deferred and due', deferred, false],
  ['signed, without a transaction', { state: 'signed' }, true],
  ['mined', { state: 'mined', ...inBlock }, false],
  ['confirmed', { state: 'confirmed', ...inBlock }, false],
  ['final', { state: 'final', ...inBlock }, false],
  ['rejected', { state: 'rejected' }, false],
  ['cancelled', { state: 'cancelled' }, false],
]

describe('claimOperations', () => {
  test.each(states)('%s: %p, claimable is %p', async (_title, values, takable) => {
    const id = await insert(values)
    expect(await claim()).toEqual(takable ? [id] : [])
  })

  test('a signed operation is bound to its transaction and not claimed for another one', async () => {
    const id = await insert({ state: 'signed', tx_id: await insertTransaction() })
    expect(await claim()).toEqual([])
    expect(await row(id)).toMatchObject({ lease_owner: null })
  })

  test('claims nothing twice before its lease ends, and counts an expired lease', async () => {
    const id = await insert()
    expect(await claim('one')).toEqual([id])
    expect(await claim('two')).toEqual([])
    await database
      .db('operation')
      .where({ id })
      .update({ leased_until: inMs(-1) })
    expect(await claim('two')).toEqual([id])
    expect(await row(id)).toMatchObject({ lease_owner: 'two', lost_leases: 1 })
  })

  test('an operation that lost its transaction is claimed by one signer at a time, too', async () => {
    const id = await insert({ state: 'signed' })
    expect(await claim('one')).toEqual([id])
    expect(await claim('two')).toEqual([])
  })

  test('leaves operations of another chain to its senders', async () => {
    await insert({ chain_id: chains + 1_000_000 })
    const own = await insert(
      { sequence: 2 },
      await insertTestIntent(database.db, wallet, 'executing'),
    )
    expect(await claim()).toEqual([own])
  })

  test.each([
    ...[['queued', false] as const, ['deferred', false] as const, ['signed', false] as const],
    ...[['mined', false] as const, ['confirmed', true] as const, ['final', true] as const],
    ...[['rejected', false] as const, ['cancelled', false] as const],
  ])('a step whose previous one is %s: claimable is %p', async (state, takable) => {
    const values = state === 'deferred' ? deferred : { state }
    const isIn = ['mined', 'confirmed', 'final'].includes(state)
    // On another chain, so that it is not claimed together with the later one.
    const elsewhere = { chain_id: chains + 1_000_000 }
    await insert({ ...elsewhere, ...values, ...(isIn ? inBlock : {}) })
    const later = await insert({ sequence: 2 })
    expect(await claim()).toEqual(takable ? [later] : [])
  })

  const ends: [string, LifecycleStatus, OperationFields][] = [
    ['completed', 'completed', {}],
    ['failed', 'failed', { error: { code: 'CANCELLED', message: 'test' } }],
    ['cancelled', 'executing', { cancelled_at: new Date() }],
  ]
  test.each(ends)(
    'an intent that is %s: only burned money continues',
    async (_title, status, ended) => {
      const of = await insertTestIntent(database.db, wallet, status, ended)
      await insert({ kind: 'deposit' }, of)
      const mint = await insert({ kind: 'mint', sequence: 2 }, of)
      expect(await claim()).toEqual([mint])
    },
  )
})

describe('lockClaimed', () => {
  /** The operations that may be signed after a claimed row was changed. */
  async function lockAfter(id: string, change: OperationFields): Promise<string[]> {
    const taken = await claimOperations(database.db, { ...sender, lateSeconds }, leaseOwner)
    await database.db('operation').where({ id }).update(change)
    const locked = await database.db.transaction((trx) => lockClaimed(trx, taken, leaseOwner))
    return locked.map((one) => one.id)
  }

  test('returns operations that are still claimed', async () => {
    const id = await insert()
    expect(await lockAfter(id, { lease_owner: leaseOwner })).toEqual([id])
  })

  const lost: [string, OperationFields][] = [
    ['claimed by another signer', { lease_owner: 'other' }],
    ['under an expired lease', { leased_until: inMs(-1) }],
    ['cancelled meanwhile', { state: 'cancelled' }],
    ['signed meanwhile by another signer with the same lease owner', { state: 'signed' }],
    ['executed by a foreign transaction meanwhile', { state: 'mined', ...inBlock }],
  ]
  test.each(lost)('omits an operation that is %s', async (_title, change) => {
    expect(await lockAfter(await insert(), change)).toEqual([])
  })

  test('omits an operation that another transaction includes meanwhile', async () => {
    const id = await insert({ state: 'signed' })
    expect(await lockAfter(id, { tx_id: await insertTransaction() })).toEqual([])
  })

  test('omits an operation whose intent was cancelled meanwhile', async () => {
    const id = await insert()
    await database
      .db('operation')
      .where({ id })
      .update({ lease_owner: leaseOwner, leased_until: inMs(HOUR_MS) })
    const operation = await findOperation(database.db, id)
    await database.db('intent').where({ id: intentId }).update({ cancelled_at: new Date() })
    const lock = () =>
      database.db.transaction((trx) => lockClaimed(trx, operation ? [operation] : [], leaseOwner))
    expect(await lock()).toEqual([])
  })
})

describe('refuseOperation and returnOperation', () => {
  const refusal = {
    state: 'rejected',
    code: 'DEPOSIT_FAILED',
    message: 'no',
    retryAfterMs: 0,
  } as const

  test.each([
    [
      'claimed by another signer',
      { state: 'queued', lease_owner: 'other', leased_until: inMs(HOUR_MS) },
    ],
    ['with a signature', { state: 'signed', lease_owner: leaseOwner, leased_until: inMs(HOUR_MS) }],
  ])('change nothing of an operation %s', async (_title, values) => {
    const id = await insert(values)
    const before = await row(id)
    await refuseOperation(database.db, { id, leaseOwner }, refusal)
    expect(await row(id)).toEqual(before)
  })

  test('do not release the claim of another signer', async () => {
    const id = await insert({ lease_owner: 'other', leased_until: inMs(HOUR_MS) })
    const before = await row(id)
    await returnOperation(database.db, { id, leaseOwner }, 0)
    expect(await row(id)).toEqual(before)
  })
})

describe('expireOperation and requeueOperation', () => {
  test.each(['signed', 'mined', 'confirmed', 'final', 'rejected'])(
    'never change a %s operation',
    async (state) => {
      const isIn = ['mined', 'confirmed', 'final'].includes(state)
      const id = await insert({ state, ...(isIn ? inBlock : {}) })
      const before = await row(id)
      await expireOperation(database.db, id)
      expect(await row(id)).toEqual(before)
    },
  )

  test('never end a mint, so that burned money arrives', async () => {
    const id = await insert({ kind: 'mint' })
    await expireOperation(database.db, id)
    expect(await row(id)).toMatchObject({ state: 'queued' })
  })

  test('record why it was not executed', async () => {
    const [never, refused] = [await insert(), await insert({ sequence: 2, ...deferred })]
    for (const id of [never, refused]) await expireOperation(database.db, id)
    expect(await row(never)).toMatchObject({ state: 'cancelled', code: 'NETWORK_ERROR' })
    expect(await row(refused)).toMatchObject({ state: 'cancelled', code: 'RPC_ERROR' })
  })

  test('requeue a deferred operation at its time, and not before', async () => {
    const early = await insert({ ...deferred, retry_after: inMs(HOUR_MS) })
    expect(await requeueOperation(database.db, early)).toBeUndefined()
    expect(await row(early)).toMatchObject({ state: 'deferred' })
    const due = await insert({ ...deferred, sequence: 2 })
    await requeueOperation(database.db, due)
    expect(await row(due)).toMatchObject({ state: 'queued' })
  })
})

describe('the schema', () => {
  test('allows one operation of a kind per step, for any id', async () => {
    await insert()
    await expect(insert()).rejects.toMatchObject({ code: '23505' })
  })

  test('allows one operation per key of a chain', async () => {
    const key = { chain_key: newId('key_') }
    await insert(key)
    await expect(insert({ ...key, sequence: 2 })).rejects.toMatchObject({ code: '23505' })
    await insert({ ...key, sequence: 3, chain_id: chains + 1_000_000 })
  })

  test('allows one transaction per nonce of a sender', async () => {
    await insertTransaction()
    await expect(insertTransaction()).rejects.toMatchObject({ code: '23505' })
  })
})
