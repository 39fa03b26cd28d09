import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { connect, type Db } from '../../db/connection/connect.js'
import { intentColumns, type Intent } from '../../db/intents/intents.js'
import { MOST_UNORDERED } from '../../db/intents/unordered.js'
import { connectTemporal } from '../../temporal/connect.js'
import { registerSearchAttributes } from '../../temporal/searchAttributes.js'
import { createStarts } from '../../temporal/starts.js'
import { insertTestIntent, insertTestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { createQuietLog } from '../support/heardLog.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'
import type { Client } from '@temporalio/client'

let database: TestDatabase
/** With the rights of the API only. Whoever waits for a row has a session. */
let api: Db

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 12)
})
afterAll(async () => {
  await api?.destroy()
  await database?.drop()
})

/** Takes every start, and has no workflows. */
function createTemporal() {
  const started: string[] = []
  const start = (_type: string, { workflowId }: { workflowId: string }) => {
    started.push(workflowId)
    return Promise.resolve()
  }
  return { started, client: { workflow: { start } } as unknown as Client }
}

/** New intents of a new account. */
async function insertIntents(count: number): Promise<Intent[]> {
  const wallet = await insertTestWallet(database.db)
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push(await insertTestIntent(database.db, wallet, 'planning'))
  return database.db('intent').whereIn('id', ids).orderBy('id').select<Intent[]>(intentColumns)
}

const findMarked = (intents: Intent[]) =>
  database
    .db('intent')
    .whereIn(
      'id',
      intents.map(({ id }) => id),
    )
    .whereNotNull('dispatched_at')
    .orderBy('id')
    .pluck<string[]>('id')

describe('createStarts', () => {
  test('begins the next before what was started is written down, and settles when all is', async () => {
    const intents = await insertIntents(9)
    const ids = intents.map(({ id }) => id)
    const { started, client } = createTemporal()
    const starts = createStarts({ temporal: client, db: api, log: createQuietLog('api') })
    const holder = await database.db.transaction()
    await holder('intent').whereIn('id', ids.slice(0, 8)).forUpdate().select('id')
    for (const intent of intents) starts.intent({ intent, tier: 'free', userId: 'user' })
    let isSettled = false
    const settled = starts.settled().then(() => (isSettled = true))
    const marked = () => findMarked(intents)
    while ((await marked()).length === 0) await sleep(20)
    expect(await marked()).toEqual(ids.slice(8))
    expect(started).toEqual(ids)
    expect(isSettled).toBe(false)
    await holder.rollback()
    await settled
    expect(await marked()).toEqual(ids)
  })

  test('begins those of an account without ordered steps one by one while others are about, who pass', async () => {
    const { started, client } = createTemporal()
    const starts = createStarts({ temporal: client, db: api, log: createQuietLog('api') })
    const [many, few] = [await insertIntents(2 * MOST_UNORDERED), await insertIntents(1)]
    const begun = many.slice(0, MOST_UNORDERED).map(({ id }) => id)
    await database.db('intent').whereIn('id', begun).update({ dispatched_at: new Date() })
    for (const { accountId } of [...many.slice(0, 1), ...few]) {
      ;(await starts.enter(accountId)).leave()
    }
    for (const intent of [...many.slice(MOST_UNORDERED), ...few]) {
      starts.intent({ intent, tier: 'free', userId: 'user' })
    }
    await starts.settled()
    expect(started).toHaveLength(MOST_UNORDERED + 1)
    expect(started.at(-1)).not.toBe(few[0]?.id)
  })
})

describe('while Temporal is not there for a moment', () => {
  let server: TemporalServer
  let proxy: TcpProxy
  let temporal: Client

  beforeAll(async () => {
    server = await startTemporalServer()
    const direct = connectTemporal(server.address, 'default')
    await registerSearchAttributes(direct)
    await direct.connection.close()
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port })
    temporal = connectTemporal(`127.0.0.1:${proxy.port}`, 'default')
  })
  afterEach(async () => {
    await temporal.connection.close()
    await proxy.stop()
  })

  const createRealStarts = () => createStarts({ temporal, db: api, log: createQuietLog('api') })

  test.each(['closed', 'frozen', 'deaf'] as const)(
    'it is %s: what is stored meanwhile is started when it is back, of each account',
    async (mode) => {
      const starts = createRealStarts()
      const [before, many, few] = [
        await insertIntents(1),
        await insertIntents(20),
        await insertIntents(2),
      ]
      const start = (intents: Intent[]) => {
        for (const intent of intents) starts.intent({ intent, tier: 'free', userId: 'user' })
      }
      start(before)
      await starts.settled()
      proxy.set(mode)
      start(many)
      start(few)
      // Longer than a start waits for its answer.
      await sleep(2_000)
      expect(await findMarked([...many, ...few])).toEqual([])
      proxy.set('closed')
      proxy.set('open')
      await starts.settled()
      const all = [...before, ...many, ...few].map(({ id }) => id)
      expect(await findMarked([...before, ...many, ...few])).toEqual(all.sort())
      for (const id of all) {
        const { status } = await temporal.workflow.getHandle(id).describe()
        expect(status.name).toBe('RUNNING')
      }
    },
  )

  test('a process that finds it away at its start starts workflows once it is there', async () => {
    proxy.set('closed')
    const starts = createRealStarts()
    const [intent] = await insertIntents(1)
    if (!intent) throw new Error('No intent.')
    starts.intent({ intent, tier: 'free', userId: 'user' })
    await sleep(2_000)
    proxy.set('open')
    await starts.settled()
    expect(await findMarked([intent])).toEqual([intent.id])
  })

  test('what Temporal itself refuses is asked for once, and holds up no other one', async () => {
    const starts = createRealStarts()
    const [refused, next] = await insertIntents(2)
    if (!refused || !next) throw new Error('No intents.')
    const asked: string[] = []
    const start = temporal.workflow.start.bind(temporal.workflow)
    Object.assign(temporal.workflow, {
      start: (type: string, options: Parameters<typeof start>[1]) => {
        asked.push(options.workflowId)
        return start(type, options)
      },
    })
    // Larger than what Temporal takes as input.
    const plan = { ...refused.plan, reasoning: 'x'.repeat(3_000_000) } as Intent['plan']
    starts.intent({ intent: { ...refused, plan }, tier: 'free', userId: 'user' })
    starts.intent({ intent: next, tier: 'free', userId: 'user' })
    await starts.settled()
    expect(await findMarked([refused, next])).toEqual([next.id])
    expect(asked.toSorted()).toEqual([refused.id, next.id].toSorted())
  })
})
