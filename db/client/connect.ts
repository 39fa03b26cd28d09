import { Socket } from 'node:net'
import { default as knex, type Knex } from 'knex'
import pg from 'pg'
import { ServiceError } from '../../domain/errors.js'

export type Db = Knex

/** Parses bigint columns to bigint, so that block numbers and ids never become floats. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text))

/**
 * Limits of every session. A killed process leaves its row locks behind until the server notices, so every wait must be
 * bounded.
 */
const ABANDONED_LIMIT = 'idle_in_transaction_session_timeout=15s'
const sessionLimits = ['lock_timeout=10s', 'statement_timeout=15s', ABANDONED_LIMIT]

/**
 * Client-side limit for a server that is unreachable and enforces no limits. It is above the server-side limits, so that
 * a reachable server reports first.
 */
const SILENT_MS = 20_000
/** Idle sessions are closed before their silence looks like a failure. */
const UNUSED_MS = 15_000

/**
 * A socket that fails pending queries when nothing was sent or received for `silentMs`.
 *
 * @see https://github.com/brianc/node-postgres/pull/2898
 */
function createSocket(silentMs: number): Socket {
  const socket = new Socket()
  return socket.setTimeout(silentMs, () => {
    socket.destroy(
      Object.assign(new Error('The database does not respond.'), { code: 'ETIMEDOUT' }),
    )
  })
}

/** The caller receives errors. knex would also print them outside the log. */
const quiet = { warn: () => undefined }

type Connection = { url: string; limits: string[]; stream?: () => Socket; pool: Knex.PoolConfig }

function open({ url, limits, stream, pool }: Connection): Db {
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      options: limits.map((limit) => `-c ${limit}`).join(' '),
      connectionTimeoutMillis: 3_000,
      types: types as NonNullable<Knex.PgConnectionConfig['types']>,
      ...(stream && { stream }),
    },
    acquireConnectionTimeout: 5_000,
    log: quiet,
    pool,
  })
}

/**
 * A leader queries at least every second. Its session ends when its process or network freezes, and another process
 * leads.
 */
const LEADER_LIMIT = 'idle_session_timeout=15s'

/**
 * A pool of at most `max` connections. bigint columns are returned as bigint, numeric columns as text.
 *
 * @param silentMs - A session without traffic for this long is closed.
 */
export const connect = (url: string, max = 10, silentMs = SILENT_MS): Db =>
  open({
    url,
    limits: sessionLimits,
    stream: () => createSocket(silentMs),
    pool: { min: 0, max, idleTimeoutMillis: UNUSED_MS },
  })

/**
 * A pool of one session that holds the advisory lock `name`. While another process holds the lock, every query fails, so
 * that only the leader writes through this pool. A process that does not lead retries with each query, on a new session.
 */
export const connectAsLeader = (url: string, name: string, silentMs = SILENT_MS): Db =>
  open({
    url,
    limits: [...sessionLimits, LEADER_LIMIT],
    stream: () => createSocket(silentMs),
    pool: {
      min: 0,
      max: 1,
      idleTimeoutMillis: 86_400_000,
      afterCreate(session: pg.Client, done: (error: Error | null, session: pg.Client) => void) {
        takeLead(session, name).then(
          () => {
            done(null, session)
          },
          (error: Error) => {
            // The pool drops a session whose creation failed.
            void session.end().catch(() => undefined)
            done(error, session)
          },
        )
      },
    },
  })

async function takeLead(session: pg.Client, name: string): Promise<void> {
  const { rows } = await session.query<{ held: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, 0)) as held',
    [`leader/${name}`],
  )
  if (!rows[0]?.held) throw new LedElsewhere('Another process is the leader.')
}

class LedElsewhere extends Error {}

/** True for the error of a query that needs the lead while another process leads. */
export const isLedElsewhere = (error: unknown): boolean => error instanceof LedElsewhere

/** A session for migrations, which may wait or run for long without traffic. */
export const connectToMigrate = (url: string): Db =>
  open({ url, limits: [ABANDONED_LIMIT], pool: { min: 0, max: 1 } })

/** Binds the database to a network on first use. Throws when it belongs to another one. */
export async function claimNetwork(db: Db, network: string): Promise<void> {
  await db('deployment').insert({ network }).onConflict().ignore()
  await assertNetwork(db, network)
}

/** Throws when the database belongs to another network, or to none. */
export async function assertNetwork(db: Db, network: string): Promise<void> {
  const row = await db<{ network: string }>('deployment').first('network')
  if (row?.network === network) return
  throw new ServiceError(
    'MISCONFIGURED',
    row
      ? `This database belongs to ${row.network}, but the process is configured for ${network}. Correct NETWORK or DATABASE_URL.`
      : 'This database has no network. Run the migrations with NETWORK set.',
  )
}
