import { Socket } from 'node:net'
import { default as knex, type Knex } from 'knex'
import pg from 'pg'
import { ServiceError } from '../../domain/errors.js'
import { prepareWhatIsFrequent } from './frequent.js'

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
/** One that is kept all the same is asked for nothing so often: a server that keeps silent then is noticed. */
const STIR_MS = 10_000

/** A socket that ends when nothing has been sent or heard on it for so long, with whatever waits on it. */
function createSocket(): Socket {
  const socket = new Socket()
  return socket.setTimeout(SILENT_MS, () => {
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

/** A pool of at most `max` connections. bigint columns come back as bigint, numeric ones as text. */
export function connect(url: string, max = 10): Db {
  return openPool(url, { min: 0, max })
}

/**
 * As `connect`, with `kept` sessions that are open from the start and stay so while nobody asks: what a session learns
 * of tables and plans in its first statements takes longer than the statements themselves.
 */
export function connectToStay(url: string, { kept, max }: { kept: number; max: number }): Db {
  const db = openPool(url, { min: kept, max })
  const stir = () => {
    // At the same moment, so that each asks on a session of its own.
    const unused = Math.max(0, kept - pool.numUsed())
    for (const asked of Array.from({ length: unused }, () => db.raw('select'))) {
      asked.catch(() => undefined)
    }
  }
  const client = db.client as RawSessions & { pool: { numUsed(): number } }
  const { pool } = client
  const timer = setInterval(stir, STIR_MS).unref()
  const destroy = client.destroy.bind(client)
  client.destroy = (callback) => {
    clearInterval(timer)
    return destroy(callback)
  }
  stir()
  return db
}

function openPool(url: string, size: { min: number; max: number }): Db {
  const pool = {
    ...{ ...size, idleTimeoutMillis: UNUSED_MS },
    afterCreate(session: pg.Client, done: (error: Error | null, session: pg.Client) => void) {
      prepareWhatIsFrequent(session)
      done(null, session)
    },
  }
  return open({ url, limits: sessionLimits, stream: createSocket, pool })
}

/**
 * A pool of one session that holds the advisory lock `(namespace, key)`. While another process holds
 * it, or after the session was lost and somebody else took over, every query fails: what is written
 * through this pool is written by the leader. Whoever waits for the lead asks again on the session that it has: to
 * open one costs both sides more than all that a leader asks in that time.
 */
export function connectAsLeader(url: string, namespace: number, key: number): Db {
  let waiting: pg.Client | undefined
  const db = open({
    url,
    limits: [...sessionLimits, LEADER_LIMIT],
    stream: createSocket,
    pool: {
      min: 0,
      max: 1,
      idleTimeoutMillis: 86_400_000,
      afterCreate(session: pg.Client, done: (error: Error | null, session: pg.Client) => void) {
        takeLead(session, namespace, key).then(
          () => {
            waiting = undefined
            done(null, session)
          },
          (error: Error) => {
            // The pool forgets a session whose creation failed: it would stay open for ever.
            waiting = isLedElsewhere(error) ? session : undefined
            if (!waiting) void session.end().catch(() => undefined)
            done(error, session)
          },
        )
      },
    },
  })
  const client = db.client as RawSessions
  const [openSession, destroy] = [
    client.acquireRawConnection.bind(client),
    client.destroy.bind(client),
  ]
  client.acquireRawConnection = async () => waiting ?? begin(await openSession())
  client.destroy = async (callback) => {
    await destroy(callback)
    await waiting?.end()
  }
  const begin = (session: pg.Client) => {
    prepareWhatIsFrequent(session)
    return session.once('end', () => {
      if (waiting === session) waiting = undefined
    })
  }
  return db
}

/** How knex opens what its pool holds. @see https://knexjs.org/guide/extending.html */
type RawSessions = {
  acquireRawConnection(): Promise<pg.Client>
  destroy(callback?: () => void): Promise<void>
}

async function takeLead(session: pg.Client, namespace: number, key: number): Promise<void> {
  const { rows } = await session.query<{ held: boolean }>(
    'select pg_try_advisory_lock($1, $2) as held',
    [namespace, key],
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
