import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { newId } from '../../../db/client/ids.js'
import { scopeTransaction } from '../../../db/client/scope.js'
import { cancelIntent, lockIntent } from '../../../db/intents/intents.js'
import {
  setDelay,
  setExecuting,
  setFailed,
  setPlan,
  setRecovery,
} from '../../../db/intents/status.js'
import { statuses, type StepPlan, type LifecycleStatus } from '../../../domain/intent/intent.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { insertTestIntent, insertTestWallet, setCompleted, type TestWallet } from '../rows.js'
import { waitUntilBlocked } from '../../support/blocked.js'

let database: TestDatabase
/** With the permissions of each process only. */
let worker: Db
let api: Db
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  worker = connect(database.urlAs('steward_worker'), 4)
  api = connect(database.urlAs('steward_api'), 4)
})
beforeEach(async () => {
  wallet = await insertTestWallet(database.db)
})
afterAll(async () => {
  await Promise.all([worker?.destroy(), api?.destroy()])
  await database?.drop()
})

type StatusRow = Record<string, unknown> & { status: LifecycleStatus }
const insert = (status: LifecycleStatus, values = {}) =>
  insertTestIntent(database.db, wallet, status, values)
const readRow = (id: string) => database.db('intent').where({ id }).first<StatusRow>()
/** The events after the creation. */
const eventsOf = (id: string) =>
  database
    .db('intent_event')
    .where({ intent_id: id })
    .whereNotIn('type', ['created', 'planned'])
    .orderBy('id')
    .select<{ type: string; data: object }[]>('type', 'data')

const plan = { strategy: 'direct-deposit', steps: [{ sequence: 1 }] } as unknown as StepPlan
const error = { code: 'DEPOSIT_FAILED' as const, message: 'test', step: 1 }
const cancelled = {
  code: 'CANCELLED' as const,
  message: 'The intent was cancelled. Nothing was sent.',
}
const delay = {
  code: 'BRIDGE_TIMEOUT' as const,
  since: '2026-01-01T00:00:00.000Z',
  message: 'x',
  funds: [],
}
const recovery = { txHash: '0x01', chain: 'base-sepolia', asset: 'USDC', amount: '1' }

const moves = {
  planned: (id: string, db: Db = worker) => setPlan(db, id, plan),
  executing: (id: string, db: Db = worker) => setExecuting(db, id),
  completed: (id: string, db: Db = worker) => setCompleted(db, id),
  failed: (id: string, db: Db = worker) => setFailed(db, id, error),
  cancelled: async (id: string) => {
    const verdict = await api.transaction((trx) => cancelIntent(trx, wallet.accountId, id))
    if (verdict !== 'cancelled') throw new Error(`Intent ${id} is over: "cancelled" is refused.`)
  },
}
type StatusEvent = keyof typeof moves
/** Only results of the chains reopen an intent, through a separate function. */
const reopening: Partial<Record<LifecycleStatus, LifecycleStatus>> = {
  completed: 'executing',
  failed: 'executing',
}

/** The target of each event, from every status that allows it. */
const edges: Record<StatusEvent, Partial<Record<LifecycleStatus, LifecycleStatus>>> = {
  planned: { pending: 'planning' },
  executing: { planning: 'executing' },
  completed: { executing: 'completed' },
  failed: { pending: 'failed', planning: 'failed', executing: 'failed' },
  cancelled: { pending: 'failed', planning: 'failed', executing: 'failed' },
}
const all = Object.entries(edges).flatMap(([event, ways]) =>
  statuses.map((from) => ({ event: event as StatusEvent, from, to: ways[from] })),
)

describe('the status of an intent', () => {
  test.each(all.filter(({ to }) => to !== undefined))(
    'moves from $from to $to when it is $event, and emits one event',
    async ({ event, from, to }) => {
      const id = await insert(from)
      await moves[event](id)
      const values = {
        planned: { plan, ended_at: null },
        executing: { ended_at: null },
        completed: { completed_at: expect.any(Date), ended_at: expect.any(Date) },
        failed: { error, cancelled_at: null, ended_at: expect.any(Date) },
        cancelled: { error: cancelled, cancelled_at: expect.any(Date), ended_at: expect.any(Date) },
      }
      expect(await readRow(id)).toMatchObject({ status: to, ...values[event] })
      const [emitted, ...more] = await database
        .db('intent_event')
        .where({ intent_id: id, type: event })
        .orderBy('id', 'desc')
        .limit(1)
        .select<{ type: string; data: object }[]>('type', 'data')
      const facts = {
        ...(event === 'planned' && { steps: 1 }),
        ...(event === 'failed' && { error }),
        ...(event === 'cancelled' && { error: cancelled }),
      }
      expect([emitted, more]).toEqual([{ type: event, data: { status: to, ...facts } }, []])
      expect(await eventsOf(id)).toHaveLength(event === 'planned' ? 0 : 1)
    },
  )

  test.each(all.filter(({ to }) => to === undefined))(
    'error: $event is rejected in the status $from, without an event',
    async ({ event, from }) => {
      const id = await insert(from)
      const before = await readRow(id)
      await expect(moves[event](id)).rejects.toThrow(`"${event}" is refused`)
      expect(await readRow(id)).toEqual(before)
      expect(await eventsOf(id)).toEqual([])
    },
  )

  test('error: an intent that does not exist', async () => {
    await expect(setExecuting(worker, 'intent_none')).rejects.toThrow('is unknown')
  })

  test('allows no other transitions', async () => {
    const known = await database
      .db('intent_edge')
      .select<{ event: string; from: string; to: string }[]>(
        'event',
        'from_status as from',
        'to_status as to',
      )
    const reopened = Object.entries(reopening).map(([from, to]) => {
      return { event: 'reopened', from, to }
    })
    const named = [...all.filter(({ to }) => to !== undefined), ...reopened]
    expect(known).toHaveLength(named.length)
    expect(known).toEqual(expect.arrayContaining(named))
  })

  test('status and event are written together or not at all', async () => {
    const id = await insert('planning')
    const before = await readRow(id)
    const undone = worker.transaction(async (trx) => {
      await setExecuting(trx, id)
      await setFailed(trx, id, error)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect([await readRow(id), await eventsOf(id)]).toEqual([before, []])
  })

  test('of two concurrent writers one changes it, the other one is rejected', async () => {
    for (let i = 0; i < 5; i++) {
      const id = await insert('executing')
      const results = await Promise.allSettled([
        moves.completed(id),
        moves.failed(id),
        moves.cancelled(id),
      ])
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await eventsOf(id)).toHaveLength(1)
    }
  })

  test('a writer that waited for the end of the intent is rejected', async () => {
    const id = await insert('executing')
    const completing = await worker.transaction()
    await setCompleted(completing, id)
    const refused = expect(setFailed(worker, id, error)).rejects.toThrow('"failed" is refused')
    await waitUntilBlocked(database.db)
    await completing.commit()
    await refused
    expect(await readRow(id)).toMatchObject({ status: 'completed', error: null })
    expect(await eventsOf(id)).toHaveLength(1)
  })

  test('a writer that waited for another one decides by the new status', async () => {
    const id = await insert('pending')
    const planning = await worker.transaction()
    await setPlan(planning, id, plan)
    const failing = setFailed(worker, id, error)
    await waitUntilBlocked(database.db)
    await planning.commit()
    await failing
    expect(await readRow(id)).toMatchObject({ status: 'failed', plan, error })
  })
})

describe('setDelay', () => {
  test('emits that an intent is late, once per message, and that it is on time again', async () => {
    const id = await insert('executing')
    await setDelay(worker, id, null)
    await setDelay(worker, id, delay)
    await setDelay(worker, id, delay)
    const another = { ...delay, message: 'another' }
    await setDelay(worker, id, another)
    expect(await readRow(id)).toMatchObject({ delay: another })
    await setDelay(worker, id, null)
    await setDelay(worker, id, null)
    expect(await readRow(id)).toMatchObject({ status: 'executing', delay: null })
    expect(await eventsOf(id)).toEqual([
      { type: 'delayed', data: { status: 'executing', delay } },
      { type: 'delayed', data: { status: 'executing', delay: another } },
      { type: 'delay_over', data: { status: 'executing' } },
    ])
  })

  test.each(['completed', 'failed'] as const)('emits no event for a %s intent', async (status) => {
    const id = await insert(status)
    await setDelay(worker, id, delay)
    expect(await readRow(id)).toMatchObject({ status, delay: null })
    expect(await eventsOf(id)).toEqual([])
  })
})

describe('setRecovery', () => {
  test('emits once where late money has arrived', async () => {
    const timeout = { code: 'BRIDGE_TIMEOUT' as const, message: 'x', step: 1 }
    const id = await insert('failed', { error: timeout, delay: JSON.stringify(delay) })
    await setRecovery(worker, id, recovery)
    await setRecovery(worker, id, { ...recovery, txHash: '0x02' })
    const { chain, asset, amount } = recovery
    const after = {
      ...{ ...timeout, funds: [{ chain, asset, amount }] },
      message: expect.stringContaining(`${amount} ${asset} arrived on ${chain}`),
      recovery: { ...recovery, at: expect.any(String) },
    }
    expect(await readRow(id)).toMatchObject({ status: 'failed', delay: null, error: after })
    const recovered = { type: 'recovered', data: { status: 'failed', error: after } }
    expect(await eventsOf(id)).toEqual([recovered])
  })

  test('emits no event for an intent that failed for another reason', async () => {
    const id = await insert('failed', { error })
    await setRecovery(worker, id, recovery)
    expect([await readRow(id), await eventsOf(id)]).toEqual([
      expect.objectContaining({ error }),
      [],
    ])
  })
})

describe('writes that bypass transition_intent', () => {
  const denied = { code: '42501' }

  test.each([
    ...["status = 'failed'", 'plan = null', 'error = null', 'completed_at = now()'],
    ...['cancelled_at = now()', 'delay = null', 'units = 1', 'account_id = account_id'],
  ])('error: no service may update intent set %s', async (assignment) => {
    await insert('executing')
    for (const db of [worker, api]) {
      await expect(db.raw(`update intent set ${assignment}`)).rejects.toMatchObject(denied)
    }
  })

  test.each([
    "select transition_intent('x', 'failed', '{}')",
    "select annotate_intent('x', 'delay_over')",
    'update intent_edge set to_status = to_status',
    'select * from intent_edge',
  ])('error: the API may not run: %s', async (sql) => {
    await expect(api.raw(sql)).rejects.toMatchObject(denied)
  })

  test('the worker may lock an intent and record its start', async () => {
    const id = await insert('planning')
    expect(await worker.transaction((trx) => lockIntent(trx, id))).toMatchObject({ id })
    await worker('intent').where({ id }).update({ dispatched_at: new Date() })
  })

  test.each([
    ['pending', {}, true],
    ['planning', { plan: '{"steps":[]}' }, true],
    ['pending', { cancelled_at: new Date() }, false],
    ['executing', { plan: '{}' }, false],
    ['completed', { plan: '{}', completed_at: new Date() }, false],
    ['failed', { error }, false],
  ])('a new intent with the status %s and %j is allowed: %p', async (status, values, isAllowed) => {
    const born = api.transaction(async (trx) => {
      await scopeTransaction(trx, wallet.accountId)
      await trx('intent').insert({
        ...{ id: newId('intent_'), account_id: wallet.accountId, wallet_id: wallet.id },
        ...{ action: 'lend', asset: 'USDC', units: '1', request_id: 'req', status, ...values },
      })
    })
    if (isAllowed) await born
    else await expect(born).rejects.toMatchObject(denied)
  })
})
