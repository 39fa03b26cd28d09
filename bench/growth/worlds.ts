import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Readable } from 'node:stream'
import { claimNetwork, connect, type Db } from '../../db/client/connect.js'
import { migrate } from '../../db/client/migrate.js'
import {
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../dev/stack/embeddedPostgres.js'
import { fill, type Filled } from './fill.js'
import type { BenchRole } from './statements.js'

/** A database with the given number of stored intents, an API on it, and a session for each role. */
export type GrowthWorld = {
  size: number
  filled: Filled
  port: number
  as: Record<BenchRole, Db>
  /** Pages of tables and indexes read by statements so far, except those that only write the request log. */
  readPages(): Promise<number>
  /** Removes dead rows of rolled back calls, as autovacuum would, which is off. */
  clean(): Promise<void>
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const passwords = { api: 'api', worker: 'worker', relayer: 'relayer', signer: 'signer' }

/**
 * Excludes flushes to disk and the background work of the server from the measurement. The server counts the pages
 * per statement from its start.
 *
 * @see https://www.postgresql.org/docs/current/pgstatstatements.html
 */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  autovacuum: 'off',
  shared_preload_libraries: 'pg_stat_statements',
}

/** @returns Worlds of these sizes, on a server below `dir`, and a function that stops and removes them. */
export async function createWorlds(
  dir: string,
  sizes: number[],
): Promise<{ worlds: GrowthWorld[]; stop(): Promise<void> }> {
  const stops: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const one of stops.reverse()) await one()
    removeEmbeddedPostgres(join(dir, 'postgres'))
    rmSync(dir, { recursive: true, force: true })
  }
  try {
    const { url, stop: stopServer } = await startServer(join(dir, 'postgres'))
    stops.push(stopServer)
    const watch = connect(url, 1)
    stops.push(() => watch.destroy())
    await watch.raw('create extension pg_stat_statements')
    const worlds: GrowthWorld[] = []
    for (const size of sizes) worlds.push(await createWorld({ url, size, watch, stops }))
    return { worlds: worlds.map((world) => ({ ...world, filled: shorten(world, worlds) })), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startServer(dir: string): Promise<EmbeddedPostgres> {
  const first = await startEmbeddedPostgres({ dir })
  const db = connect(first.url, 1)
  for (const [name, value] of Object.entries(settings)) {
    await db.raw(`alter system set ${name} = '${value}'`)
  }
  await db.destroy()
  await first.stop()
  return startEmbeddedPostgres({ dir })
}

type Making = { url: string; size: number; watch: Db; stops: (() => Promise<unknown>)[] }

async function createWorld({ url: server, size, watch, stops }: Making): Promise<GrowthWorld> {
  const name = `growth_${size}`
  await watch.raw('create database ??', [name])
  const url = urlOf(server, name)
  await migrate(url, passwords)
  const owner = connect(url, 2)
  stops.push(() => owner.destroy())
  const started = performance.now()
  await claimNetwork(owner, 'testnet')
  const filled = await fill({ owner, url }, size)
  const seconds = Math.round((performance.now() - started) / 1_000)
  console.log(`${size} intents stored in ${seconds} s, ${await readSize(watch, name)}`)
  const open = (role: BenchRole) => connect(urlOf(server, name, role), 1)
  const as = {
    ...{ api: open('api'), worker: open('worker') },
    ...{ relayer: open('relayer'), signer: open('signer') },
  }
  stops.push(() => Promise.all(Object.values(as).map((db) => db.destroy())))
  const api = await startApi(urlOf(server, name, 'api'))
  stops.push(api.stop)
  const own = { readPages: () => readPages(watch, name), clean: () => clean(owner) }
  return { size, filled, port: api.port, as, ...own }
}

/** Vacuums indexes too, however few rows are dead. Index scans would otherwise step over dead entries. */
async function clean(owner: Db): Promise<void> {
  const { rows } = await owner.raw<{ rows: { name: string }[] }>(
    'select relname as name from pg_stat_user_tables where n_dead_tup > 0',
  )
  for (const { name } of rows) await owner.raw('vacuum (index_cleanup on) ??', [name])
}

function urlOf(server: string, database: string, role?: keyof typeof passwords): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  if (role) {
    url.username = `steward_${role}`
    url.password = passwords[role]
  }
  return url.href
}

async function readSize(watch: Db, name: string): Promise<string> {
  const { rows } = await watch.raw<{ rows: [{ size: string }] }>(
    'select pg_size_pretty(pg_database_size(?)) as size',
    [name],
  )
  return rows[0].size
}

async function readPages(watch: Db, name: string): Promise<number> {
  const { rows } = await watch.raw<{ rows: [{ pages: string | null }] }>(
    `select sum(s.shared_blks_hit + s.shared_blks_read) as pages
     from pg_stat_statements s join pg_database d on d.oid = s.dbid
     where d.datname = ? and s.query not like 'select record_requests%'`,
    [name],
  )
  return Number(rows[0].pages)
}

/** The process of a deployment, with unreachable nodes and Temporal. */
async function startApi(url: string): Promise<{ port: number; stop(): Promise<void> }> {
  const away = 'http://127.0.0.1:1'
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, 'api/main.ts')], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      ...{ NETWORK: 'testnet', DATABASE_URL: url, API_PORT: '0', TEMPORAL_ADDRESS: '127.0.0.1:1' },
      ...{ RPC_URL_ETHEREUM_SEPOLIA: away, RPC_URL_ARBITRUM_SEPOLIA: away },
      RPC_URL_BASE_SEPOLIA: away,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const port = await Promise.race([
    readPort(child.stdout),
    exited.then(() => Promise.reject(new Error('The API did not start.'))),
  ])
  return {
    port,
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** The port in the first log line that has one. Discards later output. */
function readPort(output: Readable): Promise<number> {
  return new Promise((resolve) => {
    let text = ''
    const read = (chunk: Buffer) => {
      text += String(chunk)
      const port = /"port":(\d+)/.exec(text)?.[1]
      if (!port) return
      output.off('data', read).resume()
      resolve(Number(port))
    }
    output.on('data', read)
  })
}

/** Cuts each sample to the length of the shortest one, so that all worlds serve the same number of different rows. */
function shorten({ filled }: GrowthWorld, worlds: GrowthWorld[]): Filled {
  const cut = <Name extends Sample>(name: Name) =>
    filled[name].slice(0, Math.min(...worlds.map((world) => world.filled[name].length)))
  const ids = { intents: cut('intents'), failed: cut('failed'), events: cut('events') }
  const others = { hashes: cut('hashes'), requests: cut('requests'), fundings: cut('fundings') }
  const wallets = filled.wallets.slice(
    0,
    Math.min(...worlds.map((world) => world.filled.wallets.length)),
  )
  return { ...filled, ...ids, ...others, wallets }
}

type Sample = 'intents' | 'failed' | 'events' | 'hashes' | 'requests' | 'fundings'
