import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import pg from 'pg'
import { connect, type Db } from '../../db/client/connect.js'
import { migrate } from '../../db/client/migrate.js'
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../../dev/stack/embeddedPostgres.js'
import type { RunFolder } from './run/runFolder.js'
import { timed } from './run/seconds.js'

type Server = { url: string; stop(): Promise<void> }

/** Test data need not survive a crash of the machine. */
const speedups = ['fsync = off', 'full_page_writes = off', 'synchronous_commit = off']

/**
 * Starts a Postgres and migrates the template database of `createDatabase`. With `TEST_DATABASE_URL` it uses that
 * server, whose role must be able to create databases and roles.
 */
export async function startTemplate(folder: RunFolder): Promise<{ stop(): Promise<void> }> {
  const outside = process.env.TEST_DATABASE_URL
  const server = outside
    ? { url: outside, stop: () => Promise.resolve() }
    : await startServer(folder)
  const template = `steward_template_${randomBytes(4).toString('hex')}`
  await onServer(server.url, [`create database ${template}`])
  await migrate(withDatabase(server.url, template))
  process.env.TEST_POSTGRES_URL = server.url
  process.env.TEST_POSTGRES_TEMPLATE = template
  return {
    async stop() {
      if (outside) await onServer(outside, [`drop database ${template} with (force)`])
      await server.stop()
    },
  }
}

export type TestDatabase = {
  /** Connection of the owner, and a pool of it. */
  url: string
  db: Db
  /** Connection with the privileges of one service. It has no session limits. */
  urlAs(role: `steward_${'api' | 'worker' | 'relayer' | 'signer'}`): string
  drop(): Promise<void>
}

/** A migrated, empty database of its own. */
export function createDatabase(): Promise<TestDatabase> {
  return timed('database', create)
}

async function create(): Promise<TestDatabase> {
  const { TEST_POSTGRES_URL: server, TEST_POSTGRES_TEMPLATE: template } = process.env
  if (!server || !template) throw new Error('No test database: run the tests by npm test.')
  const name = `steward_test_${randomBytes(6).toString('hex')}`
  await onServer(server, [`create database ${name} template ${template} strategy file_copy`])
  const url = withDatabase(server, name)
  const db = connect(url)
  return {
    url,
    db,
    // Without a login, because tests must not change the passwords of the server's roles.
    urlAs(role) {
      const asRole = new URL(url)
      asRole.searchParams.set('options', `-c role=${role}`)
      return asRole.href
    },
    async drop() {
      await db.destroy()
      await onServer(server, [`drop database ${name} with (force)`])
    },
  }
}

async function startServer(folder: RunFolder): Promise<Server> {
  const dir = join(folder.path, 'postgres')
  const postgres = await startEmbeddedPostgres({ dir, onSpawn: (pid) => folder.guard(pid) })
  const settings = speedups.map((setting) => `alter system set ${setting}`)
  await onServer(postgres.url, [...settings, 'select pg_reload_conf()'])
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop()
      folder.release()
      removeEmbeddedPostgres(dir)
    },
  }
}

const servers = new Map<string, pg.Pool>()

/**
 * Sessions of the owner are kept, because a connection costs a third of creating a database. They do not keep a
 * process alive.
 */
function sessionsOf(url: string): pg.Pool {
  const kept = servers.get(url)
  if (kept) return kept
  const pool = new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true })
  // The server may end before them.
  pool.on('error', () => undefined)
  servers.set(url, pool)
  return pool
}

async function onServer(url: string, statements: string[]): Promise<void> {
  for (const statement of statements) await sessionsOf(url).query(statement)
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
