import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  connect,
  connectAsLeader,
  connectToStay,
  isLedElsewhere,
  type Db,
} from '../../../db/connection/connect.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

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

test('a session whose network froze ends with what waits on it; one whose server lives goes on', async () => {
  const [pool, inTransaction, living] = [connect(url, 1), connect(url, 1), connect(database.url, 1)]
  const kept = connectToStay(url, { kept: 1, max: 1 })
  const leader = connectAsLeader(url, 1, 1)
  const trx = await inTransaction.transaction()
  try {
    await Promise.all([pool, trx, leader, kept].map(one))
    proxy.freezeOpen()
    const [slow, ...frozen] = await Promise.all([
      reasonOf(living.raw('select pg_sleep(19)')),
      ...[pool, trx, leader, kept].map((db) => reasonOf(one(db))),
    ])
    for (const reason of frozen) expect(reason).toMatchObject({ code: 'ETIMEDOUT' })
    // The server's own limit comes first: canceled by it, not cut off by us.
    expect(slow).toMatchObject({ code: '57014' })
  } finally {
    await trx.rollback().catch(() => undefined)
  }
  expect(await one(pool)).toEqual([{ one: 1 }])
  expect(await one(inTransaction)).toEqual([{ one: 1 }])
  expect(await one(kept)).toEqual([{ one: 1 }])
  // The server has ended the frozen leader's session too, or does so soon.
  while (isLedElsewhere(await reasonOf(one(leader)))) await sleep(200)
  expect(await one(leader)).toEqual([{ one: 1 }])
  await Promise.all([pool, inTransaction, living, leader, kept].map((db) => db.destroy()))
})

/** Sessions of others, the oldest first. */
const readSessions = (db: Db) =>
  db
    .raw<{ rows: { pid: number }[] }>(
      `select pid from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() order by backend_start`,
    )
    .then(({ rows }) => rows.map(({ pid }) => pid))

test('whoever waits for the lead asks on one session, takes over on it, and leaves none behind', async () => {
  const db = connect(database.url, 1)
  const lead = () => connectAsLeader(database.url, 1, 2)
  const [first, second, third] = [lead(), lead(), lead()]
  // Those that froze above are the server's for a while.
  const before = await readSessions(db)
  const ours = async () => (await readSessions(db)).filter((pid) => !before.includes(pid))
  await one(first)
  const refusals = [await reasonOf(one(second))]
  const sessions = await ours()
  for (let i = 0; i < 5; i++) refusals.push(await reasonOf(one(second)))
  expect(refusals.map(isLedElsewhere)).toEqual(Array(6).fill(true))
  expect(sessions).toHaveLength(2)
  expect(await ours()).toEqual(sessions)

  await first.destroy()
  while ((await ours()).length > 1) await sleep(20)
  const { rows } = await second.raw<{ rows: { pid: number }[] }>('select pg_backend_pid() as pid')
  expect(rows[0]?.pid).toBe(sessions[1])
  expect(isLedElsewhere(await reasonOf(one(third)))).toBe(true)

  // Neither who leads nor who waits.
  await Promise.all([second, third].map((db) => db.destroy()))
  while ((await ours()).length > 0) await sleep(20)
  await db.destroy()
})

test('a session that waits for the lead and is cut off is opened anew', async () => {
  const db = connect(database.url, 1)
  const [first, second] = [connectAsLeader(database.url, 1, 3), connectAsLeader(database.url, 1, 3)]
  await one(first)
  expect(isLedElsewhere(await reasonOf(one(second)))).toBe(true)
  await db.raw(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  )
  await first.destroy()
  while ((await reasonOf(one(second))) !== undefined) await sleep(20)
  await second.destroy()
  await db.destroy()
})

test('sessions that stay are open before anybody asks, and when nobody has asked for long', async () => {
  const db = connect(database.url, 1)
  await one(db)
  const before = await readSessions(db)
  const ours = async () => (await readSessions(db)).filter((pid) => !before.includes(pid))
  const [staying, going] = [
    connectToStay(database.url, { kept: 3, max: 5 }),
    connect(database.url, 2),
  ]
  while ((await ours()).length < 3) await sleep(20)
  await Promise.all(Array.from({ length: 5 }, () => staying.raw('select pg_sleep(0.2)')))
  await one(going)
  expect(await ours()).toHaveLength(6)
  // Those that nobody needs are given back; a frozen server would have ended the others by then.
  while ((await ours()).length > 3) await sleep(200)
  await sleep(7_000)
  const stayed = await ours()
  expect(stayed).toHaveLength(3)
  const { rows } = await staying.raw<{ rows: { pid: number }[] }>('select pg_backend_pid() as pid')
  expect(stayed).toContain(rows[0]?.pid)

  await db.raw('select pg_terminate_backend(pid) from unnest(?::int[]) as pid', [stayed])
  while ((await reasonOf(one(staying))) !== undefined) await sleep(20)
  while ((await ours()).length < 3) await sleep(200)
  await Promise.all([staying, going].map((one) => one.destroy()))
  while ((await ours()).length > 0) await sleep(20)
  await db.destroy()
})
