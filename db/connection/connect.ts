import { Socket } from 'node:net'
import { default as knex, type Knex } from 'knex'
import pg from 'pg'
import { ServiceError } from '../../domain/errors.js'

export type Db = Knex

/** bigint columns as JavaScript bigint: block numbers and ids never pass through a float. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text))

/**
 * Bounds on every session. A process that is killed leaves its row locks behind until the server
 * notices, so that no wait may be endless.
 */
const ABANDONED_LIMIT = 'idle_in_transaction_session_timeout=15s'
const sessionLimits = ['lock_timeout=10s', 'statement_timeout=15s', ABANDONED_LIMIT]

/**
 * The same from this side: a server whose network froze keeps none of its limits. Above them, so that a server
 * that lives speaks first.
 */
const SILENT_MS = 20_000
/** A session that nobody uses is given back before its silence looks like one of those. */
const UNUSED_MS = 15_000

/**
 * A socket that ends when nothing was sent or received on it for so long, and fails what waits on it.
 *
 * @see https://github.com/brianc/node-postgres/pull/2898
 */
function createSocket(silentMs: number): Socket {
  const socket = new Socket()
  return socket.setTimeout(silentMs, () => {
    socket.destroy(Object.assign(new Error('The database keeps silent.'), { code: 'ETIMEDOUT' }))
  })
}

/** Whoever asks gets the error. knex would print it as well, past the log. */
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
 * A leader asks something every second or more often. A session that does not, because its process or
 * its network froze, ends and lets another lead.
 */
const LEADER_LIMIT = 'idle_session_timeout=15s'

/**
 * A pool of at most `max` connections. bigint columns come back as bigint, numeric ones as text.
 *
 * @param silentMs - A session on which nothing was heard for so long has ended.
 */
export const connect = (url: string, max = 10, silentMs = SILENT_MS): Db =>
  open({
    url,
    limits: sessionLimits,
    stream: () => createSocket(silentMs),
    pool: { min: 0, max, idleTimeoutMillis: UNUSED_MS },
  })

/**
 * A pool of one session that holds the advisory lock of a name. While another process holds it, or after the session
 * was lost and another process took over, every query fails: what is written through this pool is written by the
 * leader. Each query of a process that does not lead tries again, on a new session.
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
            // The pool forgets a session whose creation failed.
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
  if (!rows[0]?.held) throw new LedElsewhere('Another process leads.')
}

class LedElsewhere extends Error {}

/** True for the error of a query that needs the lead while another process has it. */
export const isLedElsewhere = (error: unknown): boolean => error instanceof LedElsewhere

/** A session of the owner: a migration, or the wait for another migrator, may be silent for long. */
export const connectToMigrate = (url: string): Db =>
  open({ url, limits: [ABANDONED_LIMIT], pool: { min: 0, max: 1 } })

/** Binds the database to a network at its first use; throws when it belongs to another one. */
export async function claimNetwork(db: Db, network: string): Promise<void> {
  await db('deployment').insert({ network }).onConflict().ignore()
  await assertNetwork(db, network)
}

/** Throws when the database belongs to another network, or to none yet. */
export async function assertNetwork(db: Db, network: string): Promise<void> {
  const row = await db<{ network: string }>('deployment').first('network')
  if (row?.network === network) return
  throw new ServiceError(
    'MISCONFIGURED',
    row
      ? `This database belongs to ${row.network}, the process is set to ${network}.`
      : 'This database belongs to no network yet. Run the migrations with NETWORK set.',
  )
}
