import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createApiKey } from '../db/tenants/accounts.js'
import { connect, type Db } from '../db/connection/connect.js'
import { migrate } from '../db/connection/migrate.js'
import { setExecuting } from '../db/intents/status.js'
import { startEmbeddedPostgres } from '../dev/parts/embeddedPostgres.js'
import { openEvents, type EventClient } from '../test/api/eventClient.js'
import { insertTestIntent, insertTestWallet, setCompleted } from '../test/db/rows.js'

/**
 * Many streams on one API process: what they take of its memory, how long an event is on its way beside a bare
 * client that only listens, and whether each client is told each event once and in order, though the process is
 * killed in the middle and the clients go on at another one.
 */
const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '1000' },
    intents: { type: 'string', default: '100' },
  },
})
const STREAMS = Number(values.streams)
const INTENTS = Number(values.intents)
const ACCOUNTS = 4
const STORY = ['intent.created', 'intent.planned', 'intent.executing', 'intent.completed']
const MAX_GROWTH_MB = 60
/** Writers at the same time, while the process is killed. */
const WRITERS = 8

type Intent = { id: string; key: string }
/** One client: its stream now, and all that it was told on this and the ones before. */
type Client = { intent: Intent; stream: EventClient; told: { id: string; event: string }[] }
type Api = { port: number; child: ChildProcess }

const passwords = { api: 'api', worker: 'worker', lanes: 'lanes', signer: 'signer' }
const dir = mkdtempSync(join(tmpdir(), 'steward-bench-'))
const postgres = await startEmbeddedPostgres({ dir: join(dir, 'postgres') })
const children = new Set<ChildProcess>()
try {
  await migrate(postgres.url, passwords)
  const owner = connect(postgres.url, WRITERS)
  await measure(owner).finally(() => owner.destroy())
} finally {
  for (const child of children) await stop(child)
  await postgres.stop()
  rmSync(dir, { recursive: true, force: true })
}

async function measure(owner: Db): Promise<void> {
  const intents = await insertIntents(owner)
  const first = await startServer()
  await (await follow(first, intents[0] as Intent)).stream.until(2)
  const before = await readMemory(first)
  const clients = await openAll(first, intents)
  const growth = (await readMemory(first)) - before
  const listener = new pg.Client({ connectionString: postgres.url })
  await listener.connect()
  await listener.query('listen intent_event')
  const half = intents.length / 2
  const ways = await timeEvents(owner, { intents: intents.slice(0, half), clients, listener })
  await listener.end()
  const later = (await readMemory(first)) - before
  const second = await startServer()
  const writing = writeAll(owner, intents, half)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await stop(first.child)
  const right = await Promise.all(clients.map((client) => finish(client, second)))
  await writing
  report({ growth, later, ways, right: right.filter(Boolean).length })
}

async function insertIntents(owner: Db): Promise<Intent[]> {
  const customers = await Promise.all(
    Array.from({ length: ACCOUNTS }, async () => {
      const wallet = await insertTestWallet(owner)
      await owner('account').where({ id: wallet.accountId }).update({ rpm: 1_000_000 })
      return { wallet, key: await createApiKey(owner, wallet.accountId, { name: 'bench' }) }
    }),
  )
  const intents: Intent[] = []
  for (let turn = 0; turn < INTENTS; turn++) {
    const customer = customers[turn % ACCOUNTS]
    if (!customer) continue
    const id = await insertTestIntent(owner, customer.wallet, 'planning')
    intents.push({ id, key: customer.key })
  }
  return intents
}

async function openAll(api: Api, intents: Intent[]): Promise<Client[]> {
  const clients: Client[] = []
  for (let turn = 0; turn < STREAMS; turn += 50) {
    const some = Array.from({ length: Math.min(50, STREAMS - turn) }, (_, at) =>
      follow(api, intents[(turn + at) % intents.length] as Intent),
    )
    clients.push(...(await Promise.all(some)))
  }
  for (const { stream } of clients) await stream.until(2)
  return clients
}

async function follow({ port }: Api, intent: Intent, lastEventId = ''): Promise<Client> {
  const url = `http://127.0.0.1:${port}/v1/intents/${intent.id}/events`
  const headers = lastEventId ? { 'last-event-id': lastEventId } : {}
  return { intent, stream: await openEvents(url, { key: intent.key, headers }), told: [] }
}

type Timing = { intents: Intent[]; clients: Client[]; listener: pg.Client }
type Ways = { bare: number[]; streams: number[] }

/** One event after the other: ms from before its statement until it is there. */
async function timeEvents(owner: Db, { intents, clients, listener }: Timing): Promise<Ways> {
  const ways: Ways = { bare: [], streams: [] }
  for (const { id } of intents) {
    const own = clients.filter(({ intent }) => intent.id === id)
    const started = performance.now()
    const since = () => performance.now() - started
    const heard = once(listener, 'notification').then(() => ways.bare.push(since()))
    const told = own.map(({ stream }) => stream.until(3).then(() => ways.streams.push(since())))
    await setExecuting(owner, id)
    await Promise.all([heard, ...told])
  }
  return ways
}

/** Completes all, those of the second half after their beginning. */
async function writeAll(owner: Db, intents: Intent[], half: number): Promise<void> {
  const queue = intents.entries()
  const work = async () => {
    for (const [turn, { id }] of queue) {
      if (turn >= half) await setExecuting(owner, id)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 100))
      await setCompleted(owner, id)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, work))
}

/** Goes on, at the process that is left, until the story is over. True when all of it was told once, in order. */
async function finish(client: Client, next: Api): Promise<boolean> {
  let { stream } = client
  for (;;) {
    await stream.ended
    client.told.push(...stream.events)
    if (stream.status === 204 || client.told.at(-1)?.event === 'intent.completed') break
    const lastEventId = client.told.at(-1)?.id
    stream = (await follow(next, client.intent, lastEventId)).stream
  }
  const story = client.told.map(({ event }) => event)
  return JSON.stringify(story) === JSON.stringify(STORY)
}

type Result = { growth: number; later: number; ways: Ways; right: number }

function report({ growth, later, ways, right }: Result): void {
  const [bare, streams] = [spread(ways.bare), spread(ways.streams)]
  console.table({ 'bare listener': bare, [`${STREAMS} streams`]: streams })
  const ratio = (name: 'p50 ms' | 'p99 ms') => (streams[name] / bare[name]).toFixed(1)
  console.log(`an event takes ${ratio('p50 ms')} (p50) and ${ratio('p99 ms')} (p99) times as long`)
  const mb = (bytes: number) => (bytes / 2 ** 20).toFixed(0)
  console.log(`memory +${mb(growth)} MB open, +${mb(later)} MB later (goal: < ${MAX_GROWTH_MB} MB)`)
  console.log(`${right} of ${STREAMS} clients were told each event once and in order`)
  if (right < STREAMS || Math.max(growth, later) >= MAX_GROWTH_MB * 2 ** 20) process.exitCode = 1
}

function spread(ms: number[]) {
  const sorted = ms.sort((a, b) => a - b)
  const at = (share: number) =>
    Number((sorted[Math.floor(sorted.length * share)] ?? NaN).toFixed(2))
  return { 'p50 ms': at(0.5), 'p99 ms': at(0.99), count: sorted.length }
}

async function startServer(): Promise<Api> {
  const url = new URL(postgres.url)
  url.username = 'steward_api'
  url.password = passwords.api
  const file = fileURLToPath(new URL('apiServer.ts', import.meta.url))
  const child = fork(file, ['steward', url.href], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  children.add(child)
  const [port] = (await once(child, 'message')) as [number]
  return { port, child }
}

async function readMemory({ child }: Api): Promise<number> {
  child.send('memory')
  const [bytes] = (await once(child, 'message')) as [number]
  return bytes
}

async function stop(child: ChildProcess): Promise<void> {
  if (!children.delete(child)) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
