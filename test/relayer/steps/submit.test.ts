import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { newId } from '../../../db/client/ids.js'
import { lockIntent } from '../../../db/intents/intents.js'
import { setDispatched, setFailed } from '../../../db/intents/status.js'
import { findOperation, type Operation } from '../../../operations/operations.js'
import { chainKeyOf, operationId } from '../../../operations/operationId.js'
import {
  giveUpOperation,
  submitOperation,
  type OperationOrder,
} from '../../../operations/submit.js'
import {
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../../db/rows.js'
import { waitUntilBlocked } from '../../support/blocked.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

const HOUR_MS = 3_600_000
const inMs = (ms: number) => new Date(Date.now() + ms)

let database: TestDatabase
/** With the rights of the worker role. */
let worker: Db
let wallet: TestWallet
let intentId: string

beforeAll(async () => {
  database = await createDatabase()
  worker = connect(database.urlAs('steward_worker'), 4)
  wallet = await insertTestWallet(database.db)
})
beforeEach(async () => {
  intentId = await insertTestIntent(database.db, wallet, 'executing')
})
afterAll(async () => {
  await worker?.destroy()
  await database?.drop()
})

const order = (of = intentId): OperationOrder => ({
  ...{ intentId: of, sequence: 1, kind: 'deposit', chainId: 421_614 },
  ...{ accountId: wallet.accountId, walletId: wallet.id },
})
const mintOrder = (of: string): OperationOrder => ({ ...order(of), kind: 'mint' })
/** A burn with the nonce of its attested message. */
async function insertAttested(of: string, nonce: string): Promise<void> {
  const id = operationId(of, 1, 'bridge')
  await insertTestOperation(database.db, wallet, of, { id, kind: 'bridge' })
  const message = { event_nonce: nonce, message: '0x', attestation: '0x' }
  const at = { operation_id: id, source_domain: 3, destination_block: 0 }
  await database.db('burn').insert({ ...at, ...message })
}
const rows = (of = intentId) => database.db('operation').where({ intent_id: of }).select<object[]>()
async function insert(kind: 'deposit' | 'mint', values: Record<string, unknown>): Promise<string> {
  const id = operationId(intentId, 1, kind)
  await insertTestOperation(database.db, wallet, intentId, { id, kind, ...values })
  return id
}
const deferred = (retry_after: Date) => ({ state: 'deferred', code: 'RPC_ERROR', retry_after })

describe('submitOperation', () => {
  test('derives the key on the chain from the effect', async () => {
    const row = await submitOperation(worker, order())
    const id = operationId(intentId, 1, 'deposit')
    expect(row).toMatchObject({ id, chainKey: chainKeyOf('deposit', id), state: 'queued' })
    const neighbours = [
      operationId(intentId, 1, 'withdraw'),
      operationId(intentId, 2, 'deposit'),
      operationId(`${intentId}0`, 1, 'deposit'),
    ]
    expect(new Set([id, ...neighbours]).size).toBe(4)
  })

  test('two concurrent calls are one operation, and its related rows are written once', async () => {
    let opened = 0
    const open = () => {
      opened++
      return Promise.resolve()
    }
    const both = [1, 2].map(() => submitOperation(worker, order(), open))
    const [one, other] = await Promise.all(both)
    expect(one?.id).toBe(other?.id)
    expect([opened, await rows()]).toMatchObject([1, [{ state: 'queued' }]])
  })

  test.each(['failed', 'completed'] as const)(
    'queues nothing for an intent that is %s, but mints burned money',
    async (status) => {
      const error = status === 'failed' ? { code: 'BRIDGE_TIMEOUT', message: 'test' } : null
      const ended = await insertTestIntent(database.db, wallet, status, { error })
      expect(await submitOperation(worker, order(ended))).toBeUndefined()
      expect(await rows(ended)).toEqual([])
      const nonce = newId('0x')
      await insertAttested(ended, nonce)
      const mint = { kind: 'mint', chainKey: nonce }
      expect(await submitOperation(worker, mintOrder(ended))).toMatchObject(mint)
    },
  )

  test('concurrent calls get their own results, and a wrong one fails alone', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => insertTestIntent(database.db, wallet, 'planning')),
    )
    const ended = await insertTestIntent(database.db, wallet, 'completed')
    const pool = connect(database.urlAs('steward_worker'), 4)
    const orders = [...ids, ended, 'none', ...ids].map((id) => submitOperation(pool, order(id)))
    const settled = await Promise.allSettled(orders)
    await pool.destroy()
    const found = settled.map((one) =>
      one.status === 'fulfilled' ? one.value?.intentId : 'refused',
    )
    expect(found).toEqual([...ids, undefined, 'refused', ...ids])
    const counts = await Promise.all(ids.map(async (id) => (await rows(id)).length))
    expect(counts).toEqual(ids.map(() => 1))
  })

  test('stamps the workflow start of a planned intent once', async () => {
    const planned = await insertTestIntent(database.db, wallet, 'planning')
    const read = () =>
      database
        .db('intent')
        .where({ id: planned })
        .first<{ at: Date | null; version: string }>(
          'dispatched_at as at',
          database.db.raw('xmin::text as version'),
        )
    await submitOperation(worker, order(planned))
    const noted = await read()
    expect(noted.at).toBeInstanceOf(Date)
    await setDispatched(worker, planned)
    expect(await read()).toEqual(noted)
  })

  test('stores the order of a step and that of a funding', async () => {
    const planned = await insertTestIntent(database.db, wallet, 'planning')
    const fundingId = await insertTestFunding(database.db, wallet)
    const step = await submitOperation(worker, order(planned))
    const payment = await submitOperation(worker, { ...order(fundingId), kind: 'fund' })
    expect([step, payment]).toMatchObject([{ state: 'queued' }, { state: 'queued', kind: 'fund' }])
  })

  test("emits the events in order: executing, then the step's start", async () => {
    const planned = await insertTestIntent(database.db, wallet, 'planning')
    await submitOperation(worker, order(planned))
    const eventTypes = await database
      .db('intent_event')
      .where({ intent_id: planned })
      .orderBy('id')
      .pluck<string[]>('type')
    expect(eventTypes).toEqual(['created', 'planned', 'executing', 'step_started'])
  })

  test('error: an operation that is not in the stored plan is not queued', async () => {
    const others = [{ kind: 'withdraw' as const }, { sequence: 2 }]
    for (const other of others) {
      expect(await submitOperation(worker, { ...order(), ...other })).toBeUndefined()
    }
    expect(await rows()).toEqual([])
  })

  test('error: the intent does not exist', async () => {
    await expect(submitOperation(worker, order('intent_none'))).rejects.toThrow('no intent')
  })

  test('waits for a concurrent decision about its intent, and follows it', async () => {
    const holder = await database.db.transaction()
    await lockIntent(holder, intentId)
    const ordered = submitOperation(worker, order())
    await waitUntilBlocked(database.db)
    await setFailed(holder, intentId, { code: 'INTERNAL', message: 'test' })
    await holder.commit()
    expect(await ordered).toBeUndefined()
    expect(await rows()).toEqual([])
  })

  test('takes the amount from the stored plan, and no role of the worker can write one', async () => {
    const forged = { ...order(), input: { units: '1' } }
    expect(await submitOperation(worker, forged)).toMatchObject({ inputUnits: '1000000' })
    for (const column of ['input_units', 'chain_key']) {
      const written = worker('operation').update({ [column]: '1' })
      await expect(written).rejects.toMatchObject({ code: '42501' })
    }
  })

  test('a deferred mint waits for its retry time, then is queued with the nonce of its message', async () => {
    const [before, after] = [newId('0x'), newId('0x')]
    const id = await insert('mint', { ...deferred(inMs(HOUR_MS)), chain_key: before })
    await insertAttested(intentId, after)
    const early = await submitOperation(worker, mintOrder(intentId))
    expect(early).toMatchObject({ state: 'deferred', chainKey: before })
    await database
      .db('operation')
      .where({ id })
      .update({ retry_after: inMs(-1) })
    const due = await submitOperation(worker, mintOrder(intentId))
    expect(due).toMatchObject({ id, state: 'queued', chainKey: after })
  })

  test('a planned intent is executing from its first operation on', async () => {
    const planned = await insertTestIntent(database.db, wallet, 'planning')
    await submitOperation(worker, order(planned))
    const row = await database.db('intent').where({ id: planned }).first<object>()
    expect(row).toMatchObject({ status: 'executing' })
  })
})

describe('giveUpOperation', () => {
  test('expires an unsigned operation', async () => {
    const id = await insert('deposit', deferred(inMs(HOUR_MS)))
    const row = (await findOperation(worker, id)) as Operation
    expect(await giveUpOperation(worker, row)).toMatchObject({ id, state: 'cancelled' })
  })

  test('returns an operation that was signed first', async () => {
    const id = await insert('deposit', { state: 'queued' })
    const row = (await findOperation(worker, id)) as Operation
    await database.db('operation').where({ id }).update({ state: 'signed' })
    expect(await giveUpOperation(worker, row)).toMatchObject({ id, state: 'signed' })
  })
})
