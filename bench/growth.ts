import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect, migrate, type Db } from '../db/connection/connect.js'
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../dev/parts/embeddedPostgres.js'
import { calls, send } from './growth/calls.js'
import { fill, type Filled } from '../test/support/growth/fill.js'
import { statements, type Role } from '../test/support/growth/statements.js'

/**
 * The same calls, and the same statements of signer, lanes and sweeper, on databases in which a thousand intents are
 * stored and many more: a tenth as many wallets, and in proportion what belongs to them. Chains keep silent. The
 * databases are asked in turn, so that a busy moment of the machine hits all; a ratio is the median of the rounds'.
 */
const { values } = parseArgs({
  options: {
    intents: { type: 'string', default: '1000,100000' },
    rounds: { type: 'string', default: '7' },
    calls: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
    pages: { type: 'boolean', default: false },
  },
})
const SIZES = values.intents.split(',').map(Number)
const ROUNDS = Number(values.rounds)
const CALLS = Number(values.calls)
/** Goal: p99 in the big database as a share of that in the small one. */
const MAX_RATIO = 1.2
/** Sessions tell what they have read once a second at most. */
const TOLD_MS = 1_500

const passwords = { api: 'api', worker: 'worker', lanes: 'lanes', signer: 'signer' }
const dir = mkdtempSync(join(tmpdir(), 'steward-growth-'))
const postgres = await startEmbeddedPostgres({ dir: join(dir, 'postgres') })
const stops: (() => Promise<unknown>)[] = []
type World = {
  size: number
  filled: Filled
  port: number
  as: Record<Role, Db>
  readPages(): Promise<number>
}

async function createWorld(size: number): Promise<World> {
  const name = `growth_${size}`
  const server = connect(postgres.url, 1)
  await server.raw('create database ??', [name])
  // What the rows cost to insert is not what is measured.
  await server.raw('alter database ?? set synchronous_commit = off', [name])
  await server.destroy()
  const url = urlOf(name)
  await migrate(url, passwords)
  const owner = connect(url, 2)
  const started = performance.now()
  const filled = await fill({ owner, url }, size).finally(() => owner.destroy())
  console.log(`${size} intents stored in ${Math.round((performance.now() - started) / 1_000)} s`)
  const as = {
    api: connect(urlOf(name, 'api'), 1),
    worker: connect(urlOf(name, 'worker'), 1),
    lanes: connect(urlOf(name, 'lanes'), 1),
    signer: connect(urlOf(name, 'signer'), 1),
  }
  stops.push(...Object.values(as).map((db) => () => db.destroy()))
  const watch = connect(postgres.url, 1)
  stops.push(() => watch.destroy())
  const readPages = async () => {
    const row = await watch('pg_stat_database')
      .where({ datname: name })
      .first<{ pages: string }>(watch.raw('blks_hit + blks_read as pages'))
    return Number(row.pages)
  }
  return { size, filled, port: await startApi(urlOf(name, 'api')), as, readPages }
}

function urlOf(database: string, role?: keyof typeof passwords): string {
  const url = new URL(postgres.url)
  url.pathname = `/${database}`
  if (role) {
    url.username = `steward_${role}`
    url.password = passwords[role]
  }
  return url.href
}

async function startApi(url: string): Promise<number> {
  const file = fileURLToPath(new URL('apiServer.ts', import.meta.url))
  const child = fork(file, ['steward', url], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  stops.unshift(() => stopApi(child))
  const [port] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('The API did not start.'))),
  ])) as [number]
  return port
}

async function stopApi(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.disconnect()
  await exited
}

/** One thing that is measured: how long it took, and what came of it. */
type Probe = { name: string; run(world: World, n: number): Promise<{ ms: number; came: string }> }

const probes: Probe[] = [
  ...calls.map((call) => ({
    name: call.name,
    async run({ port, filled }: World, n: number) {
      const { ms, status } = await send(port, call, { filled, n })
      return { ms, came: String(status) }
    },
  })),
  ...statements.map(({ name, role, run }) => ({
    name,
    run: ({ as, filled }: World) => timeRolledBack(as[role], (trx) => run(trx, filled)),
  })),
]

class Undone extends Error {}

async function timeRolledBack(db: Db, work: (trx: Db) => Promise<unknown>) {
  let ms = NaN
  const undone = db.transaction(async (trx) => {
    const started = performance.now()
    await work(trx)
    ms = performance.now() - started
    throw new Undone()
  })
  await undone.catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error
  })
  return { ms, came: '' }
}

type Times = { p50: number; p99: number; came: string }

const isAsked = (name: string) => values.only.split(',').some((part) => name.includes(part))

async function compare(worlds: World[]): Promise<void> {
  const rows = []
  for (const probe of probes.filter(({ name }) => isAsked(name))) {
    const rounds: Times[][] = worlds.map(() => [])
    let n = 0
    for (const world of worlds) await measure(probe, world, n, 10)
    const pages: number[] = []
    if (values.pages) {
      for (const world of worlds) pages.push(await countPages(probe, world, (n += CALLS)))
    }
    for (let round = 0; round < ROUNDS; round++) {
      n += CALLS + 10
      for (const [at, world] of worlds.entries()) {
        rounds[at]?.push(await measure(probe, world, n, CALLS))
      }
    }
    rows.push({
      ...toRow(probe.name, worlds, rounds),
      ...(values.pages && { pages: pages.join(' ') }),
    })
    if (values.pages) console.log(probe.name, pages.join(' '))
  }
  console.table(rows)
  const missed = rows.filter((row) => Number(row['p99 ratio']) > MAX_RATIO)
  console.log(
    `load ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`,
  )
  console.log(`${missed.length} of ${rows.length} above ${MAX_RATIO} at p99`)
  if (missed.length > 0) process.exitCode = 1
}

/** Pages of tables and indexes that a call reads, which do not hang on what else the machine does. */
async function countPages(probe: Probe, world: World, from: number): Promise<number> {
  const read = async () => {
    await sleep(TOLD_MS)
    return world.readPages()
  }
  const before = await read()
  await measure(probe, world, from, CALLS)
  return Math.round(((await read()) - before) / CALLS)
}

async function measure(probe: Probe, world: World, from: number, count: number): Promise<Times> {
  const times: number[] = []
  let came = ''
  for (let n = from; n < from + count; n++) {
    const result = await probe.run(world, n)
    times.push(result.ms)
    came = result.came
  }
  times.sort((a, b) => a - b)
  const share = (part: number) => times[Math.floor(times.length * part)] ?? NaN
  return { p50: share(0.5), p99: share(0.99), came }
}

const median = (numbers: number[]) =>
  numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN

function toRow(name: string, worlds: World[], rounds: Times[][]) {
  const [small = []] = rounds
  const big = rounds.at(-1) ?? []
  const ms = (of: 'p50' | 'p99', times: Times[]) =>
    Number(median(times.map((one) => one[of])).toFixed(2))
  const ratio = (of: 'p50' | 'p99') =>
    Number(median(big.map((one, at) => one[of] / (small[at]?.[of] ?? NaN))).toFixed(2))
  const columns = worlds.flatMap(({ size }, at) => [
    [`p50 ${size}`, ms('p50', rounds[at] ?? [])],
    [`p99 ${size}`, ms('p99', rounds[at] ?? [])],
  ])
  return {
    ...{ name, came: big[0]?.came },
    ...(Object.fromEntries(columns) as Record<string, number>),
    ...{ 'p50 ratio': ratio('p50'), 'p99 ratio': ratio('p99') },
  }
}

try {
  const worlds: World[] = []
  for (const size of SIZES) worlds.push(await createWorld(size))
  await compare(worlds)
} finally {
  for (const stop of stops) await stop()
  await postgres.stop()
  removeEmbeddedPostgres(join(dir, 'postgres'))
  rmSync(dir, { recursive: true, force: true })
}
