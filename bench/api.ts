import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createApiKey } from '../db/tenants/accounts.js'
import { newId } from '../db/connection/ids.js'
import { connect, type Db } from '../db/connection/connect.js'
import { migrate } from '../db/connection/migrate.js'
import { startEmbeddedPostgres } from '../dev/parts/embeddedPostgres.js'
import { publishKek } from '../db/keys.js'
import { makeKek } from '../test/custody/kek/kekFile.js'
import { insertTestWallet } from '../test/db/rows.js'
import { quantile } from './callers.js'
import { runLoad, type LoadResult, type LoadRun } from './load.js'

/**
 * `GET /v1/wallets/:userId` of the API beside a bare Express handler with one query, on the same Postgres,
 * and beside the same API without its request log, each in a process of its own; then `POST /v1/wallets` beside a bare
 * insert of the same rows. They are measured in turn, so that
 * a busy moment of the machine hits all.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '64' },
    rounds: { type: 'string', default: '15' },
  },
})
const SECONDS = Number(values.seconds)
const CONNECTIONS = Number(values.connections)
const ROUNDS = Number(values.rounds)
const WARM_UP_SECONDS = 2
/** Accounts with a key each, as many as connections; one alone makes all requests wait for its row. */
const ACCOUNTS = 64
const TRIP_SECONDS = 1
/** Goals: throughput as a share of the bare handler's, and round trips to Postgres per request. */
const MIN_RATIO = 1
const MAX_TRIPS = 2
/** Throughput with the request log as a share of that without it. */
const MIN_LOGGED = 0.95
/** Wallets made as a share of bare inserts of their rows. */
const MIN_CREATED = 0.5

const kinds = ['bare', 'sameSql', 'unlogged', 'steward'] as const
type Kind = (typeof kinds)[number]
const titles: Record<Kind, string> = {
  bare: 'bare handler, one SELECT',
  sameSql: 'bare handler, same SQL',
  unlogged: 'API, no request log',
  steward: 'API',
}
/** CPU time per request of the server and of Postgres. */
type Measured = LoadResult & { serverMicros: number; postgresMicros: number }
type Rounds = Record<Kind, Measured[]>

const passwords = { api: 'api', worker: 'worker', lanes: 'lanes', signer: 'signer' }
const dir = mkdtempSync(join(tmpdir(), 'steward-bench-'))
const postgres = await startEmbeddedPostgres({ dir: join(dir, 'postgres') })
try {
  await migrate(postgres.url, passwords)
  const owner = connect(postgres.url)
  const callers = await insertCallers(owner).finally(() => owner.destroy())
  await compare(callers)
} finally {
  await postgres.stop()
  rmSync(dir, { recursive: true, force: true })
}

/** Requests that both kinds of server understand, one for each of the accounts, none of which runs dry. */
async function insertCallers(owner: Db): Promise<Callers> {
  await publishKek(owner, await makeKek())
  const insertCaller = async () => {
    const { accountId } = await insertTestWallet(owner)
    await owner('account')
      .where({ id: accountId })
      .update({
        ...{ rpm: 1_000_000_000, max_wallets: null, monthly_credits: 1_000_000_000 },
        ...{ period: owner.raw('current_period()'), granted: 1_000_000_000 },
      })
    const key = await createApiKey(owner, accountId, { name: 'bench' })
    const who = ['Host: 127.0.0.1', `Authorization: Bearer ${key}`, `X-Account: ${accountId}`]
    const read = ['GET /v1/wallets/user HTTP/1.1', ...who, '', ''].join('\r\n')
    return { who, read: Buffer.from(read) }
  }
  const callers = await Promise.all(Array.from({ length: ACCOUNTS }, insertCaller))
  return { reads: callers.map(({ read }) => read), who: callers.map(({ who }) => who) }
}

/** `who`: headers that say who calls. */
type Callers = { reads: Buffer[]; who: string[][] }

/** Each makes the wallet of another user. */
function toCreation(who: string[][]): (turn: number) => Buffer {
  return (turn) => {
    const body = JSON.stringify({ userId: newId('user_') })
    const about = ['Content-Type: application/json', `Content-Length: ${body.length}`]
    const head = ['POST /v1/wallets HTTP/1.1', ...(who[turn % who.length] ?? []), ...about]
    return Buffer.from([...head, '', body].join('\r\n'))
  }
}

async function compare({ reads: callers, who }: Callers): Promise<void> {
  const servers = await startServers()
  try {
    const created = await measure(servers, toCreation(who), ['bare', 'steward'])
    report('POST wallets', created)
    const hot = await measure(servers, callers.slice(0, 1))
    const spread = await measure(servers, callers)
    report('1 account', hot)
    report(`${ACCOUNTS} accounts`, spread)
    const ratio = ratioOf(spread)
    const trips = await countTrips(servers.steward, callers)
    console.log(`ratio ${ratio.toFixed(2)} of the bare handler (goal: at least ${MIN_RATIO})`)
    // On a busy machine throughput also tells how many sessions of Postgres ask for a core at once: the API has few.
    console.log(
      `${cpuShare(spread).toFixed(2)} of its CPU per request, server and Postgres together`,
    )
    console.log(`${trips.toFixed(2)} round trips per request (goal: at most ${MAX_TRIPS})`)
    const logged = shareOf(spread.steward, spread.unlogged)
    console.log(`${logged.toFixed(2)} of it without request log (goal: at least ${MIN_LOGGED})`)
    const made = ratioOf(created)
    console.log(`${made.toFixed(2)} of bare inserts of wallets (goal: at least ${MIN_CREATED})`)
    const isMissed = ratio < MIN_RATIO || trips > MAX_TRIPS || logged < MIN_LOGGED
    if (isMissed || made < MIN_CREATED) process.exitCode = 1
  } finally {
    // Before Postgres: a pool whose server goes first tells so by an error.
    for (const server of Object.values(servers)) await server.stop()
  }
}

async function measure(
  servers: Servers,
  requests: LoadRun['requests'],
  measured: readonly Kind[] = kinds,
): Promise<Rounds> {
  const rounds: Rounds = { bare: [], sameSql: [], unlogged: [], steward: [] }
  const run = (kind: Kind, seconds: number) => {
    const { port } = servers[kind]
    return runLoad({ port, requests, connections: CONNECTIONS, seconds })
  }
  for (const kind of measured) await run(kind, WARM_UP_SECONDS)
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of measured) {
      const before = await readCpu(servers[kind])
      const result = await run(kind, SECONDS)
      const after = await readCpu(servers[kind])
      const [serverMicros = NaN, postgresMicros = NaN] = after.map(
        (micros, at) => (micros - (before[at] ?? NaN)) / result.count,
      )
      rounds[kind].push({ ...result, serverMicros, postgresMicros })
    }
  }
  return rounds
}

async function readCpu(server: BenchServer): Promise<number[]> {
  return [await server.ask('cpu'), readPostgresMicros()]
}

/** Round trips to Postgres per request, read from the connections of the server itself. */
async function countTrips(server: BenchServer, requests: Buffer[]): Promise<number> {
  await server.ask('trips')
  const run = { port: server.port, requests, connections: CONNECTIONS, seconds: TRIP_SECONDS }
  const { count } = await runLoad(run)
  return (await server.ask('trips')) / count
}

function median(numbers: number[]): number {
  return quantile(numbers, 0.5)
}

/** Throughput as a share of the bare handler's in the same round: the median of the rounds. */
function ratioOf(rounds: Rounds, kind: Kind = 'steward'): number {
  return shareOf(rounds[kind], rounds.bare)
}

function shareOf(measured: Measured[], others: Measured[]): number {
  const shares = measured.map(
    ({ perSecond }, round) => perSecond / (others[round]?.perSecond ?? NaN),
  )
  return median(shares)
}

/** CPU time per request as a share of the bare handler's in the same round: the median of the rounds. */
function cpuShare({ steward, bare }: Rounds): number {
  const micros = (one?: Measured) => (one?.serverMicros ?? NaN) + (one?.postgresMicros ?? NaN)
  return median(steward.map((one, round) => micros(one) / micros(bare[round])))
}

function report(title: string, rounds: Rounds): void {
  const rows = kinds
    .filter((kind) => rounds[kind].length > 0)
    .map((kind) => {
      const of = (name: keyof Measured, digits: number) =>
        Number(median(rounds[kind].map((round) => round[name])).toFixed(digits))
      return {
        [title]: titles[kind],
        'requests/s': of('perSecond', 0),
        'p50 ms': of('p50Ms', 2),
        'p99 ms': of('p99Ms', 2),
        'server CPU µs': of('serverMicros', 0),
        'Postgres CPU µs': of('postgresMicros', 0),
        ratio: Number(ratioOf(rounds, kind).toFixed(2)),
      }
    })
  console.table(rows)
}

type BenchServer = {
  port: number
  ask(question: 'cpu' | 'trips'): Promise<number>
  stop(): Promise<void>
}
type Servers = Record<Kind, BenchServer>

async function startServers(): Promise<Servers> {
  const api = new URL(postgres.url)
  api.username = 'steward_api'
  api.password = passwords.api
  const [bare, sameSql, unlogged, steward] = await Promise.all([
    startServer('bare', postgres.url),
    startServer('sameSql', api.href),
    startServer('unlogged', api.href),
    startServer('steward', api.href),
  ])
  return { bare, sameSql, unlogged, steward }
}

async function startServer(kind: Kind, url: string): Promise<BenchServer> {
  const file = fileURLToPath(new URL('apiServer.ts', import.meta.url))
  // The log is written, as in production, and read by nobody.
  const child = fork(file, [kind, url], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const port = await nextAnswer(child)
  return {
    port,
    async ask(question) {
      child.send(question)
      return nextAnswer(child)
    },
    async stop() {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}

async function nextAnswer(child: ChildProcess): Promise<number> {
  const waiting = new AbortController()
  const { signal } = waiting
  const died = once(child, 'exit', { signal }).then(() => {
    throw new Error('A server died.')
  })
  try {
    const [answer] = (await Promise.race([once(child, 'message', { signal }), died])) as [number]
    return answer
  } finally {
    died.catch(() => undefined)
    waiting.abort()
  }
}

/** CPU time of all sessions of Postgres in µs, where the system tells it: ticks of 10 ms in /proc. */
function readPostgresMicros(): number {
  if (!existsSync('/proc/self/stat')) return NaN
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = readStat(pid)
    if (Number(fields[1]) === postgres.pid) ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks * 10_000
}

/** What follows the name of a process: its state, its parent, and so on. */
function readStat(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
  } catch {
    return []
  }
}
