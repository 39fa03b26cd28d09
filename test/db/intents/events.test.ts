import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { scopeTransaction } from '../../../db/client/scope.js'
import { readEvents, readPage, type EventSlice } from '../../../db/intents/events.js'
import { readNewEvents } from '../../../db/intents/newEvents.js'
import { setExecuting, setFailed } from '../../../db/intents/status.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import {
  forgetEvents,
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../rows.js'

let database: TestDatabase
/** With the permissions of each process only. */
let worker: Db
let signer: Db
let senders: Db
let api: Db
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  worker = connect(database.urlAs('steward_worker'), 4)
  signer = connect(database.urlAs('steward_signer'), 4)
  senders = connect(database.urlAs('steward_relayer'), 4)
  api = connect(database.urlAs('steward_api'), 4)
  await database.db('chain').insert({
    ...{ id: 421_614, name: 'arbitrum-sepolia', indexed_block: 9, indexed_hash: '0x' },
    finalized_block: 1,
  })
})
async function newWallet(): Promise<TestWallet> {
  const made = await insertTestWallet(database.db)
  await forgetEvents(database.db, made.accountId)
  return made
}
beforeEach(async () => {
  wallet = await newWallet()
})
afterAll(async () => {
  await Promise.all([worker, signer, senders, api].map((db) => db?.destroy()))
  await database?.drop()
})

const error = { code: 'DEPOSIT_FAILED' as const, message: 'test', step: 1 }
const insert = () => insertTestIntent(database.db, wallet, 'planning')
const read = (slice: Partial<EventSlice> = {}) =>
  readEvents(api, wallet.accountId, { limit: 100, ...slice })

/** A transaction of another database that ends at this moment counts as ours: its database is unknown then. */
async function readSettled(count: number, slice: Partial<EventSlice> = {}) {
  for (;;) {
    const events = await read(slice)
    if (events.length >= count) return events
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Waits for a number of events. Returns the id of the last one. */
async function lastId(count: number): Promise<bigint> {
  const last = (await readSettled(count)).at(-1)
  return last?.id ?? 0n
}

describe('the position up to which the log was read', () => {
  test('never goes back: no event is read twice', async () => {
    await insert()
    await readSettled(2)
    const { accountId } = wallet
    const [after, limit] = [{ xact: 2n ** 50n, id: 0n }, 10]
    expect(await readPage(api, accountId, { after, limit })).toMatchObject({ horizon: after })
    const [news] = await readNewEvents(api, [{ accountId, after }], limit)
    expect(news).toMatchObject({ events: [], horizon: after })
  })
})

describe('readEvents', () => {
  test('returns events oldest first, in pages, of all intents or of one', async () => {
    const [one, other] = [await insert(), await insert()]
    await setExecuting(worker, one)
    await setFailed(worker, one, error)
    const events = await readSettled(6)
    const { id: walletId } = wallet
    const facts = { walletId, action: 'lend', asset: 'USDC', units: '1000000' }
    const created = { type: 'created', data: { status: 'planning', ...facts } }
    const planned = { type: 'planned', data: { status: 'planning', steps: 1 } }
    const common = {
      id: expect.any(BigInt),
      xact: expect.any(BigInt),
      at: expect.any(Date),
      walletId,
    }
    expect(events).toEqual([
      { ...common, intentId: one, ...created },
      { ...common, intentId: one, ...planned },
      { ...common, intentId: other, ...created },
      { ...common, intentId: other, ...planned },
      { ...common, intentId: one, type: 'executing', data: { status: 'executing' } },
      { ...common, intentId: one, type: 'failed', data: { status: 'failed', error } },
    ])
    expect(await readSettled(2, { intentId: other })).toEqual(events.slice(2, 4))
    expect(await readSettled(4, { limit: 4 })).toEqual(events.slice(0, 4))
    const next = { limit: 4, after: events[3]?.id ?? 0n }
    expect(await readSettled(2, next)).toEqual(events.slice(4))
    expect(await read({ after: events[5]?.id ?? 0n })).toEqual([])
  })

  test('is not delayed by a transaction of another database on the same server', async () => {
    const other = await createDatabase()
    const foreign = await other.db.transaction()
    try {
      await foreign.raw('select pg_current_xact_id()')
      const id = await insert()
      const events = await readSettled(2)
      expect(events.map(({ intentId }) => intentId)).toEqual([id, id])
      // The reader did not wait for it: a session that idles in a transaction for too long is ended.
      await foreign.raw('select pg_current_xact_id()')
    } finally {
      await foreign.rollback().catch(() => undefined)
      await other.drop()
    }
  })

  test('misses no event of a transaction that commits later with a lower id', async () => {
    const [slow, quick] = [await insert(), await insert()]
    const after = await lastId(4)
    const [first, second] = [await worker.transaction(), await worker.transaction()]
    await setExecuting(first, slow)
    await setExecuting(second, quick)
    await second.commit()
    expect(await read({ after })).toEqual([])
    await first.commit()
    const events = await readSettled(2, { after })
    expect(events.map(({ intentId }) => intentId)).toEqual([slow, quick])
  })

  test('misses no event of a transaction that began later and numbered its event first', async () => {
    const [early, late] = [await insert(), await insert()]
    const after = await lastId(4)
    const [first, second] = [await worker.transaction(), await worker.transaction()]
    await first.raw('select pg_current_xact_id()')
    await setExecuting(second, late)
    await setExecuting(first, early)
    await first.commit()
    const seen = await readSettled(1, { after })
    expect(seen.map(({ intentId }) => intentId)).toEqual([early])
    await second.commit()
    const [{ id: cursor } = { id: 0n }] = seen
    const rest = await readSettled(1, { after: cursor })
    expect(rest.map(({ intentId }) => intentId)).toEqual([late])
    expect(rest.every(({ id }) => id < cursor)).toBe(true)
  })

  test('forty concurrent writers and one reader: each event is read once', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, insert))
    const work = Promise.all(
      ids.map(async (id) => {
        await setExecuting(worker, id)
        await worker.transaction((trx) => setFailed(trx, id, error))
      }),
    )
    const seen: bigint[] = []
    while (seen.length < 4 * ids.length) {
      const after = seen.at(-1)
      const page = await read({ limit: 7, ...(after !== undefined && { after }) })
      seen.push(...page.map(({ id }) => id))
    }
    await work
    const all = database.db('intent_event').where({ account_id: wallet.accountId })
    const known = await all.orderBy('id').pluck<bigint[]>('id')
    expect([...seen].sort((a, b) => Number(a - b))).toEqual(known)
  })

  test('another account sees no events, and an unknown id has no successors', async () => {
    await insert()
    const foreign = await lastId(2)
    wallet = await newWallet()
    expect(await read()).toEqual([])
    await insert()
    await lastId(2)
    expect(await read({ after: foreign })).toEqual([])
  })
})

describe('intent_event', () => {
  test('a query of the API without a condition sees only own events', async () => {
    await insert()
    const readAll = (db: Db) => db('intent_event').select<{ account_id: string }[]>()
    expect(await readAll(api)).toEqual([])
    const own = await api.transaction(async (trx) => {
      await scopeTransaction(trx, wallet.accountId)
      return readAll(trx)
    })
    const { accountId } = wallet
    expect(own.map(({ account_id }) => account_id)).toEqual([accountId, accountId])
  })

  test.each([
    "insert into intent_event (intent_id, account_id, type, data) values ('x', 'x', 'failed', '{}')",
    'update intent_event set type = type',
    'delete from intent_event',
    'truncate intent_event',
  ])('error: no service may run: %s', async (sql) => {
    for (const db of [api, worker, signer, senders]) {
      await expect(db.raw(sql)).rejects.toMatchObject({ code: '42501' })
    }
  })
})

describe('events of an operation', () => {
  const inBlock = {
    ...{ tx_hash: '0x01', block_number: 5, block_hash: '0x02', log_index: 0 },
    ...{ gas_used: '1', gas_cost_usd: '0' },
  }
  const vanished = { block_number: null, block_hash: null, log_index: null }
  const step = { step: 1, kind: 'deposit', chain: 'arbitrum-sepolia' }
  const mined = { state: 'mined', success: true, ...inBlock }
  const deferred = { state: 'deferred', code: 'RPC_ERROR', retry_after: new Date() }

  type Change = Record<string, unknown> & { state: string }

  /** The writers of a change: the relayer writes outcomes, the worker orders, the signer rejections. */
  function writerOf(change: Change): Db {
    if ('block_hash' in change || /mined|confirmed|final/.test(change.state)) return senders
    return /queued|cancelled/.test(change.state) ? worker : signer
  }

  /** The events of an operation that goes through these states in turn. */
  async function eventsAfter(changes: Change[], values: object = {}) {
    const intentId = await insert()
    const id = await insertTestOperation(database.db, wallet, intentId, { ...values })
    const signature = { operation_id: id, payload: '{}', sent_at: new Date() }
    await database.db('signature').insert(signature)
    for (const change of changes) await writerOf(change)('operation').where({ id }).update(change)
    return database
      .db('intent_event')
      .where({ intent_id: intentId })
      .whereNotIn('type', ['created', 'planned'])
      .orderBy('id')
      .select<object[]>('type', 'data')
  }
  const started = { type: 'step_started', data: step }

  test('starts its step and completes it at its confirmation, with no event in between', async () => {
    const changes = [deferred, { state: 'queued' }, { state: 'signed' }, mined]
    const end = [{ state: 'confirmed' }, { state: 'confirmed' }, { state: 'final' }]
    const done = { type: 'step_completed', data: { ...step, txHash: '0x01' } }
    expect(await eventsAfter([...changes, ...end])).toEqual([started, done])
  })

  test('a confirmed failed call fails its step', async () => {
    const failed = { type: 'step_failed', data: { ...step, txHash: '0x01' } }
    const changes = [{ ...mined, success: false }, { state: 'confirmed' }]
    expect(await eventsAfter(changes)).toEqual([started, failed])
  })

  test.each([
    ['is refused', 'rejected', 'DEPOSIT_FAILED'],
    ['expires', 'cancelled', 'NETWORK_ERROR'],
  ])('an operation that %s fails its step with its code', async (_title, state, code) => {
    const failed = { type: 'step_failed', data: { ...step, code } }
    expect(await eventsAfter([{ state, code }])).toEqual([started, failed])
  })

  test('an operation that was cancelled with its intent has not failed', async () => {
    expect(await eventsAfter([{ state: 'cancelled', code: 'CANCELLED' }])).toEqual([started])
  })

  test('reverts its step when its block disappears, and completes it again', async () => {
    const signed = { state: 'signed', ...vanished }
    const changes = [mined, signed, mined, { state: 'confirmed' }, signed, mined]
    const facts = { ...step, txHash: '0x01' }
    expect(await eventsAfter([...changes, { state: 'confirmed' }])).toEqual([
      started,
      { type: 'step_completed', data: facts },
      { type: 'step_reverted', data: facts },
      { type: 'step_completed', data: facts },
    ])
  })

  test('a burn is progress of its step, and its mint completes it without another start', async () => {
    const [burn, mint] = [
      { ...step, kind: 'bridge' },
      { ...step, kind: 'mint' },
    ]
    const changes = [mined, { state: 'confirmed' }]
    expect(await eventsAfter(changes, { kind: 'bridge' })).toEqual([
      { type: 'step_started', data: burn },
      { type: 'step_progressed', data: { ...burn, txHash: '0x01' } },
    ])
    const done = { type: 'step_completed', data: { ...mint, txHash: '0x01' } }
    expect(await eventsAfter(changes, { kind: 'mint' })).toEqual([done])
  })

  test('a funding belongs to no intent and emits no step event', async () => {
    const funding = await insertTestFunding(database.db, wallet)
    const values = { kind: 'fund', intent_id: funding }
    expect(await eventsAfter([mined, { state: 'confirmed' }], values)).toEqual([])
  })

  test('emits no event when its change is rolled back', async () => {
    const intentId = await insert()
    const id = await insertTestOperation(database.db, wallet, intentId, mined)
    const undone = senders.transaction(async (trx) => {
      await trx('operation').where({ id }).update({ state: 'confirmed' })
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    const emitted = database.db('intent_event').where({ intent_id: intentId }).orderBy('id')
    expect(await emitted.pluck('type')).toEqual(['created', 'planned', 'step_started'])
  })
})
