import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Client } from '@temporalio/client'
import { connect, type Db } from '../../db/connection/connect.js'
import { listenToStarts } from '../../db/connection/listen.js'
import { MOST_UNORDERED as ROOM } from '../../db/intents/starting.js'
import { connectTemporal } from '../../temporal/connect.js'
import { registerSearchAttributes } from '../../temporal/searchAttributes.js'
import { once } from '../../temporal/start.js'
import { serveTasks } from '../../worker/serve.js'
import { createStarter, MOST_STARTS } from '../../worker/starting.js'
import { insertTestFunding, insertTestIntent, insertTestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { createHeardLog, createQuietLog } from '../support/heardLog.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
// The SDK says little then.
import '../support/temporal/temporal.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'

let database: TestDatabase
/** With the rights of the worker only. */
let worker: Db
let stop: AbortController
let running: Promise<unknown>[]

beforeEach(async () => {
  database = await createDatabase()
  worker = connect(database.urlAs('steward_worker'))
  stop = new AbortController()
  running = []
  asked = 0
})
afterEach(async () => {
  stop.abort()
  await Promise.all(running)
  await worker.destroy()
  await database.drop()
})

/** How often was asked whether Temporal is there. */
let asked: number
/** Says that all is well. */
const presence = {
  untilThere() {
    asked += 1
    return Promise.resolve()
  },
}

/** A worker's process, as far as it starts what is stored; `isDeaf`: it hears of nothing. */
function startHere(client: Client, { log = createQuietLog('worker'), isDeaf = false } = {}): void {
  const starter = createStarter()
  if (!isDeaf) listenToStarts(database.urlAs('steward_worker'), stop.signal, starter.hear)
  const tools = { db: worker, client, temporal: presence, log, options: once }
  running.push(starter.run(tools, stop.signal))
}

/** Takes every start, once `gate` is open, and has no workflows. */
function createTemporal(gate: Promise<void> = Promise.resolve()) {
  const started: string[] = []
  const start = (_type: string, { workflowId }: { workflowId: string }) => {
    started.push(workflowId)
    return gate
  }
  return { started, client: { workflow: { start } } as unknown as Client }
}

/** New intents of a new account. */
async function insertIntents(count: number): Promise<string[]> {
  const wallet = await insertTestWallet(database.db)
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push(await insertTestIntent(database.db, wallet, 'planning'))
  return ids
}

const findMarked = (ids: string[]) =>
  database.db('intent').whereIn('id', ids).whereNotNull('dispatched_at').orderBy('id').pluck('id')
async function untilMarked(ids: string[]): Promise<void> {
  while ((await findMarked(ids)).length < ids.length) await sleep(20)
}

describe('createStarter', () => {
  test('starts what is stored while it runs and what was stored before, once however many workers there are', async () => {
    const { started, client } = createTemporal()
    const before = await insertIntents(5)
    for (let i = 0; i < 3; i++) startHere(client)
    const all = [...before, ...(await insertIntents(7)), ...(await insertIntents(1))]
    const funding = await insertTestFunding(database.db, await insertTestWallet(database.db))
    await untilMarked(all)
    const unmarked = () => database.db('funding').whereNull('dispatched_at').pluck('id')
    while ((await unmarked()).length > 0) await sleep(20)
    expect(started.toSorted()).toEqual([...all, funding].toSorted())
  })

  test('finds what it was not told of', async () => {
    const { started, client } = createTemporal()
    startHere(client, { isDeaf: true })
    const ids = await insertIntents(2)
    await untilMarked(ids)
    expect(started.toSorted()).toEqual(ids.toSorted())
  })

  test('ends when what was started is written down', async () => {
    const ids = await insertIntents(MOST_STARTS + 1)
    const { started, client } = createTemporal()
    startHere(client)
    while (started.length < ids.length) await sleep(5)
    stop.abort()
    await Promise.all(running)
    expect(await findMarked(ids)).toEqual(ids)
  })

  test('has few under way at once, and of an account few without an ordered step while others are about', async () => {
    let open = () => {}
    const { started, client } = createTemporal(new Promise((resolve) => (open = resolve)))
    const [few, many] = [await insertIntents(1), await insertIntents(3 * ROOM)]
    startHere(client)
    while (started.length < MOST_STARTS) await sleep(20)
    await sleep(200)
    expect(started).toHaveLength(MOST_STARTS)
    open()
    // As many as have room, and one for each half second since.
    await untilMarked([...few, ...many.slice(0, ROOM)])
    const others = await insertIntents(2)
    await untilMarked(others)
    expect(started.length).toBeLessThan(few.length + many.length)
    await database.db('intent').whereIn('id', many).update({ status: 'executing' })
    await untilMarked(many)
  })

  test('takes some ahead, which begin as places are free, and not at all once others may take them', async () => {
    const started: string[] = []
    const ends: (() => void)[] = []
    const start = (_type: string, { workflowId }: { workflowId: string }) => {
      started.push(workflowId)
      return new Promise<void>((resolve) => ends.push(resolve))
    }
    const { log, lines } = createHeardLog('worker')
    const ids = await insertIntents(ROOM)
    startHere({ workflow: { start } } as unknown as Client, { log })
    const findTaken = () => database.db('intent').whereIn('id', ids).whereNotNull('swept_at')
    while ((await findTaken()).length < ids.length) await sleep(5)
    expect(started).toHaveLength(MOST_STARTS)
    ends[0]?.()
    // Nothing that takes longer than this, such as a look at the database.
    await new Promise(setImmediate)
    const begun = new Set(started)
    expect(begun.size).toBe(MOST_STARTS + 1)
    const givenUp = () => lines.join('').split('workflow not started yet').length - 1
    while (givenUp() < MOST_STARTS) await sleep(5)
    expect(new Set(started)).toEqual(begun)
  })

  test('asks again for what did not reach Temporal, before anybody takes it anew', async () => {
    const { log, lines } = createHeardLog('worker')
    const unreached = { code: 14, details: '14 UNAVAILABLE', metadata: {} }
    const cause = Object.assign(new Error('14 UNAVAILABLE'), unreached)
    const [id = ''] = await insertIntents(1)
    const readTaken = () => database.db('intent').where({ id }).first<object>('swept_at')
    const taken: unknown[] = []
    const start = async () => {
      taken.push(await readTaken())
      if (taken.length < 4) throw Object.assign(new Error('Failed to start.'), { cause })
    }
    startHere({ workflow: { start } } as unknown as Client, { log })
    await untilMarked([id])
    expect(taken).toEqual(Array.from({ length: 4 }, () => taken[0]))
    expect(lines).toEqual([])
  })

  test('starts more of an account that is alone, and asks for Temporal once for each kind', async () => {
    const { started, client } = createTemporal()
    const ids = await insertIntents(3 * ROOM)
    startHere(client)
    await untilMarked(ids)
    expect(started.toSorted()).toEqual(ids.toSorted())
    expect(asked).toBe(2)
  })
})

describe('with a Temporal server', () => {
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
    stop.abort()
    await Promise.all(running)
    await temporal.connection.close()
    await proxy.stop()
  })

  test.each(['closed', 'frozen', 'deaf'] as const)(
    'while it is %s what is stored waits, and is started when it is back, of each account',
    async (mode) => {
      startHere(temporal)
      const before = await insertIntents(1)
      await untilMarked(before)
      proxy.set(mode)
      const stored = [...(await insertIntents(20)), ...(await insertIntents(2))]
      // Longer than a start waits for its answer.
      await sleep(2_000)
      expect(await findMarked(stored)).toEqual([])
      proxy.set('closed')
      proxy.set('open')
      await untilMarked(stored)
      for (const id of [...before, ...stored]) {
        const { status } = await temporal.workflow.getHandle(id).describe()
        expect(status.name).toBe('RUNNING')
      }
    },
  )

  test('what Temporal itself refuses is told, and holds up no other one', async () => {
    const [refused = '', next = ''] = await insertIntents(2)
    // Larger than what Temporal takes as input.
    const plan = JSON.stringify({ reasoning: 'x'.repeat(3_000_000) })
    await database.db('intent').where({ id: refused }).update({ plan })
    const { log, lines } = createHeardLog('worker')
    startHere(temporal, { log })
    await untilMarked([next])
    while (!lines.join('').includes('workflow not started yet')) await sleep(20)
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ intent: refused }])
    expect(await findMarked([refused, next])).toEqual([next])
  })

  test('by the connection of a worker that runs, its first task comes with the answer', async () => {
    const log = createQuietLog('worker')
    const activities = { finalizeIntent: () => new Promise(() => undefined) }
    const options = { taskQueue: 'intents', activities, workflowBundle: workflowBundle() }
    const starter = createStarter()
    listenToStarts(database.urlAs('steward_worker'), stop.signal, starter.hear)
    const service = {
      ...{ address: server.address, options, temporal: presence, log },
      beside: (connection: Client['connection'], over: AbortSignal) =>
        starter.run(
          { db: worker, client: new Client({ connection }), temporal: presence, log },
          over,
        ),
    }
    running.push(serveTasks(service, stop.signal))
    // One that has just begun may have told nobody yet that it has slots.
    for (let isEager = false; !isEager;) {
      const [id = ''] = await insertIntents(1)
      await untilMarked([id])
      const { events } = await temporal.workflow.getHandle(id).fetchHistory()
      const began = events?.[0]?.workflowExecutionStartedEventAttributes
      isEager = began?.eagerExecutionAccepted === true
      await temporal.workflow.getHandle(id).terminate()
    }
  })
})
