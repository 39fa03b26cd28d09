import { afterAll, beforeAll, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, connectAsLeader, isLedElsewhere, type Db } from '../../../db/client/connect.js'
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

test('connect: a session with a frozen network fails its queries, one with a busy server continues', async () => {
  const [pool, inTransaction, living] = [connect(url, 1), connect(url, 1), connect(database.url, 1)]
  const leader = connectAsLeader(url, 'first')
  const trx = await inTransaction.transaction()
  try {
    await Promise.all([pool, trx, leader].map(one))
    proxy.freezeOpen()
    const [slow, ...frozen] = await Promise.all([
      reasonOf(living.raw('select pg_sleep(19)')),
      ...[pool, trx, leader].map((db) => reasonOf(one(db))),
    ])
    for (const reason of frozen) expect(reason).toMatchObject({ code: 'ETIMEDOUT' })
    // The limit of the server comes first: the query is cancelled by it, not cut off by the client.
    expect(slow).toMatchObject({ code: '57014' })
  } finally {
    await trx.rollback().catch(() => undefined)
  }
  expect(await one(pool)).toEqual([{ one: 1 }])
  expect(await one(inTransaction)).toEqual([{ one: 1 }])
  // The server has also ended the session of the frozen leader, or does so soon.
  while (isLedElsewhere(await reasonOf(one(leader)))) await sleep(200)
  expect(await one(leader)).toEqual([{ one: 1 }])
  await Promise.all([pool, inTransaction, living, leader].map((db) => db.destroy()))
})
