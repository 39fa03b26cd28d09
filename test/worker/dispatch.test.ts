import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Client } from '@temporalio/client'
import { createNotifier } from '../../runtime/notifier.js'
import { connect, type Db } from '../../db/client/connect.js'
import { listenToStarts } from '../../db/client/listen.js'
import { connectTemporal } from '../../workflows/client/connect.js'
import { serveTasks } from '../../worker/serve.js'
import { BATCH, runStarter } from '../../worker/dispatch.js'
import { insertTestFunding, insertTestIntent, insertTestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { createCapturedLog, createQuietLog } from '../support/capturedLog.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { joinTemporal } from '../support/temporal/joinTemporal.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'

/** A short lease, so that claims of failed starts expire soon. */
const LEASE_MS = 300

let database: TestDatabase
/** A connection with the worker's role. */
let worker: Db
let stop: AbortController
let running: Promise<unknown>[]

beforeEach(async () => {
  database = await createDatabase()
  worker = connect(database.urlAs('steward_worker'))
  stop = new AbortController()
  running = []
})
afterEach(async () => {
  stop.abort()
  await Promise.all(running)
  await worker.destroy()
  await database.drop()
})

/** Reports Temporal as available. */
const presence = { untilThere: () => Promise.resolve() }

/** No worker here takes an eager start. */
const rollout = { isCurrent: () => false }

/** The starter of a worker process. `isDeaf`: it receives no notifications. */
function startHere(client: Client, { log = createQuietLog('worker'), isDeaf = false } = {}): void {
  const stored = createNotifier()
  if (!isDeaf) listenToStarts(database.urlAs('steward_worker'), stop.signal, stored.notify)
  const tools = { db: worker, client, temporal: presence, stored, log, rollout, leaseMs: LEASE_MS }
  running.push(runStarter(tools, stop.signal))
}

/** A client that accepts every start once `gate` is open, and has no workflows. */
function createTemporal(gate: Promise<void> = Promise.resolve()) {
  const started: string[] = []
  const start = (_type: string, { workflowId }: { workflowId: string }) => {
    started.push(workflowId)
    return gate
  }
  const withDeadline = (_deadline: number, call: () => Promise<unknown>) => call()
  return { started, client: { workflow: { start }, withDeadline } as unknown as Client }
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

describe('runStarter', () => {
  test('starts earlier and new rows exactly once with several workers', async () => {
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

  test('starts rows without a notification', async () => {
    const { started, client } = createTemporal()
    startHere(client, { isDeaf: true })
    const ids = await insertIntents(2)
    await untilMarked(ids)
    expect(started.toSorted()).toEqual(ids.toSorted())
  })

  test('ends after it has recorded its starts', async () => {
    const ids = await insertIntents(BATCH + 1)
    const { started, client } = createTemporal()
    startHere(client)
    while (started.length < ids.length) await sleep(5)
    stop.abort()
    await Promise.all(running)
    expect(await findMarked(ids)).toEqual(ids)
  })

  test('limits its concurrent starts', async () => {
    let open = () => {}
    const { started, client } = createTemporal(new Promise((resolve) => (open = resolve)))
    const ids = await insertIntents(3 * BATCH)
    startHere(client)
    while (started.length < BATCH) await sleep(20)
    await sleep(50)
    expect(started).toHaveLength(BATCH)
    open()
    await untilMarked(ids)
    expect(started.toSorted()).toEqual(ids.toSorted())
  })

  test('retries a failed start when its lease has expired, and starts others meanwhile', async () => {
    const { log, lines } = createCapturedLog('worker')
    const [failing = '', ...others] = await insertIntents(BATCH + 1)
    let failures = 0
    const start = (_type: string, { workflowId }: { workflowId: string }) =>
      workflowId === failing && failures++ === 0
        ? Promise.reject(new Error('14 UNAVAILABLE'))
        : Promise.resolve()
    startHere({ ...createTemporal().client, workflow: { start } } as unknown as Client, { log })
    await untilMarked([failing, ...others])
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ intent: failing }])
  })
})

describe('with a Temporal server', () => {
  let server: Awaited<ReturnType<typeof joinTemporal>>
  let proxy: TcpProxy
  let temporal: Client

  beforeAll(async () => {
    server = await joinTemporal()
  })
  afterAll(() => server?.client.connection.close())
  beforeEach(async () => {
    proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port })
    temporal = connectTemporal(`127.0.0.1:${proxy.port}`, server.namespace)
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
      const { log, lines } = createCapturedLog('worker')
      startHere(temporal, { log })
      const before = await insertIntents(1)
      await untilMarked(before)
      proxy.set(mode)
      const stored = [...(await insertIntents(20)), ...(await insertIntents(2))]
      while (!lines.join('').includes('workflow not started yet')) await sleep(20)
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

  test('logs a start that Temporal rejects, and starts others meanwhile', async () => {
    const [refused = '', next = ''] = await insertIntents(2)
    // Exceeds Temporal's limit of an input.
    const plan = JSON.stringify({ reasoning: 'x'.repeat(3_000_000) })
    await database.db('intent').where({ id: refused }).update({ plan })
    const { log, lines } = createCapturedLog('worker')
    startHere(temporal, { log })
    await untilMarked([next])
    while (!lines.join('').includes('workflow not started yet')) await sleep(20)
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ intent: refused }])
    expect(await findMarked([refused, next])).toEqual([next])
  })

  test('starts eagerly on the connection of a running worker, unless its version is not current', async () => {
    const log = createQuietLog('worker')
    const activities = { finalizeIntent: () => new Promise(() => undefined) }
    const { namespace, address } = server
    const queue = { namespace, taskQueue: 'intents' }
    const options = { ...queue, activities, workflowBundle: workflowBundle() }
    const stored = createNotifier()
    listenToStarts(database.urlAs('steward_worker'), stop.signal, stored.notify)
    let isCurrent = true
    const rollout = { isCurrent: () => isCurrent }
    const tools = { db: worker, temporal: presence, rollout, stored, log }
    const service = {
      ...{ address, options, temporal: presence, log },
      beside: (connection: Client['connection'], over: AbortSignal) =>
        runStarter({ ...tools, client: new Client({ connection, namespace }) }, over),
    }
    running.push(serveTasks(service, stop.signal))
    // A new worker may not have registered its free slots yet.
    while (!(await isEager()));
    isCurrent = false
    for (let n = 0; n < 5; n++) expect(await isEager()).toBe(false)

    async function isEager(): Promise<boolean> {
      const [id = ''] = await insertIntents(1)
      await untilMarked([id])
      const { events } = await temporal.workflow.getHandle(id).fetchHistory()
      await temporal.workflow.getHandle(id).terminate()
      return events?.[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted === true
    }
  })
})
