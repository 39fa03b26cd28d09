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
/** Each with the rights of its process only. */
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
/** What was told after the creation. */
const toldOf = (id: string) =>
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
/** Only what the chains say reopens an intent, by a function of its own. */
const reopening: Partial<Record<LifecycleStatus, LifecycleStatus>> = {
  completed: 'executing',
  failed: 'executing',
}

/** Where each event leads, from every status from which it may come. */
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
    'moves from $from to $to when it is $event, and this is told once',
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
      const [told, ...more] = await database
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
      expect([told, more]).toEqual([{ type: event, data: { status: to, ...facts } }, []])
      expect(await toldOf(id)).toHaveLength(event === 'planned' ? 0 : 1)
    },
  )

  test.each(all.filter(({ to }) => to === undefined))(
    'stays $from: it is not $event from there, and nothing is told',
    async ({ event, from }) => {
      const id = await insert(from)
      const before = await readRow(id)
      await expect(moves[event](id)).rejects.toThrow(`"${event}" is refused`)
      expect(await readRow(id)).toEqual(before)
      expect(await toldOf(id)).toEqual([])
    },
  )

  test('is refused for an intent that does not exist', async () => {
    await expect(setExecuting(worker, 'intent_none')).rejects.toThrow('is unknown')
  })

  test('knows no other ways than these', async () => {
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

  test('and what is told of it are written together or not at all', async () => {
    const id = await insert('planning')
    const before = await readRow(id)
    const undone = worker.transaction(async (trx) => {
      await setExecuting(trx, id)
      await setFailed(trx, id, error)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect([await readRow(id), await toldOf(id)]).toEqual([before, []])
  })

  test('is changed by one of two writers, the other one is refused', async () => {
    for (let i = 0; i < 5; i++) {
      const id = await insert('executing')
      const results = await Promise.allSettled([
        moves.completed(id),
        moves.failed(id),
        moves.cancelled(id),
      ])
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await toldOf(id)).toHaveLength(1)
    }
  })

  test('a writer who waited for the end of another one is refused', async () => {
    const id = await insert('executing')
    const completing = await worker.transaction()
    await setCompleted(completing, id)
    const refused = expect(setFailed(worker, id, error)).rejects.toThrow('"failed" is refused')
    await waitUntilBlocked(database.db)
    await completing.commit()
    await refused
    expect(await readRow(id)).toMatchObject({ status: 'completed', error: null })
    expect(await toldOf(id)).toHaveLength(1)
  })

  test('a writer who waited for another one decides about what that one has left', async () => {
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
  test('tells that an intent is late, once, and that it is late no longer', async () => {
    const id = await insert('executing')
    await setDelay(worker, id, null)
    await setDelay(worker, id, delay)
    await setDelay(worker, id, { ...delay, message: 'another' })
    expect(await readRow(id)).toMatchObject({ delay })
    await setDelay(worker, id, null)
    await setDelay(worker, id, null)
    expect(await readRow(id)).toMatchObject({ status: 'executing', delay: null })
    expect(await toldOf(id)).toEqual([
      { type: 'delayed', data: { status: 'executing', delay } },
      { type: 'delay_over', data: { status: 'executing' } },
    ])
  })

  test.each(['completed', 'failed'] as const)('says nothing of a %s intent', async (status) => {
    const id = await insert(status)
    await setDelay(worker, id, delay)
    expect(await readRow(id)).toMatchObject({ status, delay: null })
    expect(await toldOf(id)).toEqual([])
  })
})

describe('setRecovery', () => {
  test('tells once where the money is that came out too late', async () => {
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
    const told = { type: 'recovered', data: { status: 'failed', error: after } }
    expect(await toldOf(id)).toEqual([told])
  })

  test('says nothing of an intent that failed otherwise', async () => {
    const id = await insert('failed', { error })
    await setRecovery(worker, id, recovery)
    expect([await readRow(id), await toldOf(id)]).toEqual([expect.objectContaining({ error }), []])
  })
})

describe('past the one place', () => {
  const denied = { code: '42501' }

  test.each([
    ...["status = 'failed'", 'plan = null', 'error = null', 'completed_at = now()'],
    ...['cancelled_at = now()', 'delay = null', 'units = 1', 'account_id = account_id'],
  ])('no service may update intent set %s', async (assignment) => {
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
  ])('the API may not: %s', async (sql) => {
    await expect(api.raw(sql)).rejects.toMatchObject(denied)
  })

  test('the worker may still lock an intent, and say that it was started', async () => {
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
  ])('a new intent is born %s with %j: %p', async (status, values, isAllowed) => {
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
