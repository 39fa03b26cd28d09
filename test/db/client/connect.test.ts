import { afterAll, beforeAll, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, connectAsLeader, isLedElsewhere, type Db } from '../../../db/client/connect.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

/** Allowed silence of a session in these tests. */
const SILENT_MS = 500

let database: TestDatabase
let proxy: TcpProxy
/** Of the database, through the proxy. */
let url: string

beforeAll(async () => {
  database = await createDatabase()
  const through = new URL(database.url)
  proxy = await startTcpProxy({ host: through.hostname, port: Number(through.port) })
  through.hostname = '127.0.0.1'
  through.port = String(proxy.port)
  url = through.href
})
afterAll(async () => {
  await proxy?.stop()
  await database?.drop()
})

const one = (db: Db) => db.raw<{ rows: unknown[] }>('select 1 as one').then(({ rows }) => rows)
const reasonOf = (query: Promise<unknown>) =>
  query.then(
    () => undefined,
    (reason: unknown) => reason,
  )

test('connect: a session with a frozen network fails its queries, and the others of its pool continue', async () => {
  const [pool, inTransaction] = [connect(url, 1, SILENT_MS), connect(url, 1, SILENT_MS)]
  const leader = connectAsLeader(url, 'first', SILENT_MS)
  const trx = await inTransaction.transaction()
  try {
    await Promise.all([pool, trx, leader].map(one))
    proxy.freezeOpen()
    for (const reason of await Promise.all([pool, trx, leader].map((db) => reasonOf(one(db))))) {
      expect(reason).toMatchObject({ code: 'ETIMEDOUT' })
    }
  } finally {
    await trx.rollback().catch(() => undefined)
  }
  expect(await one(pool)).toEqual([{ one: 1 }])
  expect(await one(inTransaction)).toEqual([{ one: 1 }])
  await Promise.all([pool, inTransaction, leader].map((db) => db.destroy()))
})

/** Other sessions, the oldest first. */
const readSessions = (db: Db) =>
  db
    .raw<{ rows: { pid: number }[] }>(
      `select pid from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() order by backend_start`,
    )
    .then(({ rows }) => rows.map(({ pid }) => pid))

test('error: one process leads; another takes over when it ends, and no session is left', async () => {
  const db = connect(database.url, 1)
  const lead = () => connectAsLeader(database.url, 'second')
  const [first, second] = [lead(), lead()]
  // The server keeps the sessions that froze above for a while.
  await one(db)
  const before = await readSessions(db)
  const ours = async () => (await readSessions(db)).filter((pid) => !before.includes(pid))
  await one(first)
  for (let i = 0; i < 3; i++) expect(isLedElsewhere(await reasonOf(one(second)))).toBe(true)
  while ((await ours()).length > 1) await sleep(20)

  await first.destroy()
  while ((await reasonOf(one(second))) !== undefined) await sleep(20)
  expect(await ours()).toHaveLength(1)
  await second.destroy()
  while ((await ours()).length > 0) await sleep(20)
  await db.destroy()
})

test('error: a leader that lost its session fails while another process leads', async () => {
  const db = connect(database.url, 1)
  const lead = () => connectAsLeader(database.url, 'third')
  const [first, second] = [lead(), lead()]
  await one(first)
  expect(isLedElsewhere(await reasonOf(one(second)))).toBe(true)
  await db.raw(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  )
  while ((await reasonOf(one(second))) !== undefined) await sleep(20)
  expect(isLedElsewhere(await reasonOf(one(first)))).toBe(true)
  await Promise.all([first, second, db].map((pool) => pool.destroy()))
})
