import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRequestLog, type RequestLog } from '../../../api/http/requestLog.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { newId } from '../../../db/client/ids.js'
import { createAccount } from '../../../db/accounts/accounts.js'
import type { RequestEntry } from '../../../db/usage/requests.js'
import { waitUntilBlocked } from '../../support/blocked.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { createCapturedLog, type CapturedLog } from '../../support/capturedLog.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'

/** What may wait, in addition to a batch that is being written. */
const MOST_WAITING = 10_000
const BATCH = 2_000
const BATCH_MS = 20

let database: TestDatabase
let proxy: TcpProxy
let db: Db
let requests: RequestLog
let heard: CapturedLog
let accountId: string

beforeAll(async () => {
  database = await createDatabase()
  const { hostname, port } = new URL(database.url)
  proxy = await startTcpProxy({ host: hostname, port: Number(port) })
  const url = new URL(database.urlAs('steward_api'))
  url.hostname = '127.0.0.1'
  url.port = String(proxy.port)
  db = connect(url.href, 1)
})
beforeEach(async () => {
  accountId = (await createAccount(database.db, { name: 'test', plan: 'pro' })).id
  heard = createCapturedLog('api')
  requests = createRequestLog(db, heard.log, BATCH_MS)
})
afterEach(async () => {
  proxy.set('open')
  await requests.stop()
})
afterAll(async () => {
  await db?.destroy()
  await proxy?.stop()
  await database?.drop()
})

const entry = (): RequestEntry => ({
  ...{ id: newId('req_'), at: new Date(), accountId, keyDigest: undefined, userId: 'user_1' },
  ...{ method: 'GET', path: '/v1/wallets', walletId: undefined, resourceId: undefined },
  ...{ status: 200, code: undefined, refusal: undefined, credits: 1, ms: 3 },
})
function addMany(count: number): string[] {
  const entries = Array.from({ length: count }, entry)
  for (const one of entries) requests.add(one)
  return entries.map(({ id }) => id)
}
const warnings = (text: string) => heard.lines.filter((line) => line.includes(text))
const keptIds = (): Promise<string[]> =>
  database.db('request_log').where({ account_id: accountId }).orderBy('id').pluck<string[]>('id')

async function untilWaiting(count: number): Promise<void> {
  while (requests.state().waiting > count) await sleep(10)
}

describe('the request log without a database', () => {
  test('holds 10,000 requests and drops further ones, counted and reported once', async () => {
    proxy.set('closed')
    const ids = addMany(MOST_WAITING + BATCH + 700)
    const { waiting, dropped } = requests.state()
    expect([waiting, dropped]).toEqual([MOST_WAITING + BATCH, 700])
    await sleep(0)
    addMany(50)
    expect(requests.state()).toMatchObject({ waiting, dropped: 750, written: 0 })
    expect(warnings('request log entries dropped')).toHaveLength(1)

    proxy.set('open')
    await untilWaiting(0)
    expect(requests.state()).toMatchObject({ waiting: 0, dropped: 750, written: waiting })
    // The first ones, each once, and the sum of them.
    expect(await keptIds()).toEqual(ids.slice(0, waiting).sort())
    const [sum] = await database.db('request_day').where({ account_id: accountId }).select()
    expect(sum).toMatchObject({ requests: BigInt(waiting), credits: BigInt(waiting) })

    // There is room again, and nothing is said of it a second time.
    addMany(1)
    await untilWaiting(0)
    expect(requests.state()).toMatchObject({ dropped: 750, written: waiting + 1 })
    expect(warnings('request log entries dropped')).toHaveLength(1)
  })

  test('retries an unconfirmed batch unchanged: each request is stored and counted once', async () => {
    const held = await database.db.transaction()
    await held.raw('lock table request_log in access exclusive mode')
    const first = addMany(3)
    await waitUntilBlocked(database.db)
    // Its statement is with the server, and its response is lost.
    proxy.set('closed')
    const later = addMany(2)
    await held.commit()
    while ((await keptIds()).length < 3) await sleep(10)
    expect(requests.state()).toMatchObject({ written: 0, waiting: 5, dropped: 0 })
    proxy.set('open')
    await untilWaiting(0)
    expect(await keptIds()).toEqual([...first, ...later].sort())
    const [sum] = await database.db('request_day').where({ account_id: accountId }).select()
    expect(sum).toMatchObject({ requests: 5n, credits: 5n })
    expect(requests.state()).toMatchObject({ written: 5, dropped: 0 })
  })

  test('drops and counts the waiting requests when it stops', async () => {
    proxy.set('closed')
    addMany(3)
    await requests.stop()
    expect(requests.state()).toMatchObject({ written: 0, dropped: 3 })
    expect(await keptIds()).toEqual([])
  })
})
