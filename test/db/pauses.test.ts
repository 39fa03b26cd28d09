import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../db/client/connect.js'
import {
  getUsableWallet,
  readPauses,
  readPausedMs,
  resumeWork,
  pauseWork,
} from '../../db/pauses.js'
import { walletById } from '../../db/accounts/wallets.js'
import { findOperation } from '../../operations/operations.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { insertTestIntent, insertTestOperation, insertTestWallet, type TestWallet } from './rows.js'

let database: TestDatabase
let db: Db
let wallet: TestWallet
const roles = ['steward_api', 'steward_worker', 'steward_relayer', 'steward_signer'] as const
const pools: Db[] = []
const order = { by: 'alice', why: 'a drill' }

beforeAll(async () => {
  database = await createDatabase()
  ;({ db } = database)
  wallet = await insertTestWallet(db)
  await pauseWork(db, { scope: 'wallet', subject: wallet.id }, order)
})
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.destroy()))
  await database.drop()
})

const as = (role: (typeof roles)[number]) => {
  const pool = connect(database.urlAs(role), 1)
  pools.push(pool)
  return pool
}

describe('the audit log', () => {
  test.each(['owner', ...roles])('cannot be changed by %s', async (role) => {
    const session = role === 'owner' ? db : as(role as (typeof roles)[number])
    for (const sql of [
      `update audit_event set actor = 'unknown'`,
      'delete from audit_event',
      'truncate audit_event cascade',
    ]) {
      const refused = role === 'owner' ? '23001' : '42501'
      await expect(session.raw(sql)).rejects.toMatchObject({ code: refused })
    }
    const [event] = await db('audit_event').where({ action: 'wallet freeze' }).select<object[]>()
    const kept = { actor: 'alice', action: 'wallet freeze', subject: wallet.id, why: 'a drill' }
    expect(event).toMatchObject(kept)
  })

  test.each(roles)('%s can neither pause, nor resume, nor write an entry', async (role) => {
    const session = as(role)
    for (const sql of [
      `insert into audit_event (actor, action, subject, why) values ('a', 'b', 'c', 'd')`,
      `insert into pause (scope, subject, begun_by) values ('deployment', '', 1)`,
      'update pause set until = now()',
      'delete from pause',
    ]) {
      await expect(session.raw(sql)).rejects.toMatchObject({ code: '42501' })
    }
  })

  test('requires a reason and a name', async () => {
    const target = { scope: 'deployment', subject: '' } as const
    for (const empty of [{ by: '' }, { why: '' }]) {
      await expect(pauseWork(db, target, { ...order, ...empty })).rejects.toThrow()
    }
    expect(await readPauses(db)).toEqual([])
  })
})

describe('a pause', () => {
  test('can begin once and end once', async () => {
    const target = { scope: 'account', subject: wallet.accountId } as const
    const races = await Promise.allSettled([1, 2, 3].map(() => pauseWork(db, target, order)))
    expect(races.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const ends = await Promise.allSettled([1, 2, 3].map(() => resumeWork(db, target, order)))
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const entries = await db('audit_event')
      .where({ subject: wallet.accountId })
      .where('action', 'like', '%freeze')
      .orderBy('id')
      .pluck('action')
    expect(entries).toEqual(['account freeze', 'account unfreeze'])
  })

  test('error: NOT_FOUND for an unknown subject, INVALID_REQUEST for one that is not paused', async () => {
    const unknown = { scope: 'wallet', subject: 'wallet_unknown' } as const
    await expect(pauseWork(db, unknown, order)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const calm = { scope: 'chain', subject: '5' } as const
    await expect(resumeWork(db, calm, order)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })

  test('error: FORBIDDEN for the owner of the frozen wallet, and for no other account', async () => {
    const api = as('steward_api')
    const other = await insertTestWallet(db)
    const { id, accountId } = wallet
    await expect(getUsableWallet(api, accountId, id)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('This wallet is frozen.'),
    })
    const theirs = await getUsableWallet(api, other.accountId, other.id)
    expect(theirs).toEqual(await walletById.get(api, other.accountId, other.id))
    // Another account does not learn of it.
    const foreign = getUsableWallet(api, other.accountId, id)
    await expect(foreign).rejects.toMatchObject({ code: 'WALLET_NOT_FOUND' })
    await expect(api.raw('select * from audit_event')).rejects.toMatchObject({ code: '42501' })
  })

  test('error: FORBIDDEN for every wallet of a frozen account, and for no other wallet', async () => {
    const api = as('steward_api')
    const [mine, theirs] = [await insertTestWallet(db), await insertTestWallet(db)]
    const target = { scope: 'account', subject: mine.accountId } as const
    await pauseWork(db, target, order)
    // Concurrent lookups share one statement.
    const asked = [mine, theirs, mine].map((one) => getUsableWallet(api, one.accountId, one.id))
    const results = await Promise.allSettled(asked)
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected'])
    await resumeWork(db, target, order)
    expect(await getUsableWallet(api, mine.accountId, mine.id)).toMatchObject({ id: mine.id })
  })

  test('counts as paused time of an operation, overlapping pauses once', async () => {
    const own = await insertTestWallet(db)
    const intent = await insertTestIntent(db, own, 'executing')
    const id = await insertTestOperation(db, own, intent)
    const hour = 3_600_000
    const ago = (hours: number) => new Date(Date.now() - hours * hour)
    await db('operation')
      .where({ id })
      .update({ created_at: ago(10) })
    const event = await db('audit_event').first<{ id: bigint }>('id')
    const act = event.id.toString()
    const spans: [string, string, number, number | null][] = [
      ['wallet', own.id, 12, 8],
      ['account', own.accountId, 9, 7],
      ['deployment', '', 2, null],
      ['wallet', wallet.id, 9, 1],
    ]
    for (const [scope, subject, since, until] of spans) {
      const ended = until === null ? {} : { until: ago(until), ended_by: act }
      await db('pause').insert({ scope, subject, since: ago(since), begun_by: act, ...ended })
    }
    const row = await findOperation(db, id)
    if (!row) throw new Error('There is no operation.')
    const stoppedMs = await readPausedMs(db, row)
    expect(Math.round(stoppedMs / 60_000)).toBe(5 * 60)
  })
})
