import pg from 'pg'
import { createApiKey } from '../../../db/tenants/accounts.js'
import { newToken, tokenDigest } from '../../../db/tenants/sessions.js'
import { publishKek } from '../../../db/keys.js'
import { makeKek } from '../../custody/kek/kekFile.js'
import { FACTS, INTENTS, LANES, LIVE, REQUESTS, owners, seed } from './rows.js'
import type { Db } from '../../../db/connection/connect.js'

/** Users of the dashboard: one alone may ask 600 times a minute. */
const USERS = 40

/** Who calls, and some of what he has. */
export type Filled = {
  key: string
  sessions: string[]
  intents: string[]
  failed: string[]
  events: string[]
  wallets: { id: string; userId: string }[]
  hashes: string[]
  requests: string[]
  fundings: string[]
  webhook: string
  /** The wallet that has most. */
  busiest: string
}

/**
 * Fills a fresh database with so many intents of the last ninety days, a tenth as many wallets, and what belongs to
 * them: operations, transactions, reservations, events, ledger, kept answers, requests, deliveries. Half of it is the
 * caller's. What is under way, and what is of the last two days, is as much however many there are.
 */
export async function fill(
  { owner, url }: { owner: Db; url: string },
  intents: number,
): Promise<Filled> {
  const kek = await makeKek()
  await publishKek(owner, kek)
  // A pool's session gives up long before a million rows are there.
  const session = new pg.Client({ connectionString: url })
  await session.connect()
  const wallets = Math.max(50, Math.floor(intents / 10))
  const begin = [owners({ wallets, users: USERS }), seed({ wallets, intents })]
  try {
    // Rows as they are after years: no trigger and no foreign key need look at each of them.
    await session.query('set session_replication_role = replica')
    for (const sql of [...begin, INTENTS, FACTS, LANES, LIVE, REQUESTS]) await session.query(sql)
    await session.query('vacuum (analyze)')
  } finally {
    await session.end()
  }
  return readSample(owner)
}

async function readSample(owner: Db): Promise<Filled> {
  const ids = (sql: string) =>
    owner
      .raw<{ rows: { id: string }[] }>(`select id from (${sql}) s order by md5(id) limit 400`)
      .then(({ rows }) => rows.map(({ id }) => id))
  const mine = `account_id = 'acct_0'`
  const some = (table: string, more = '') => ids(`select id from ${table} where ${mine} ${more}`)
  const wallets = await owner('wallet')
    .where({ account_id: 'acct_0' })
    .orderByRaw('md5(id)')
    .limit(400)
    .select<{ id: string; userId: string }[]>('id', 'user_id as userId')
  const hashes = await owner('operation')
    .where({ account_id: 'acct_0', state: 'final' })
    .orderByRaw('md5(id)')
    .limit(400)
    .pluck<string[]>('tx_hash')
  return {
    key: await createApiKey(owner, 'acct_0', { name: 'bench' }),
    sessions: await openSessions(owner),
    intents: await some('intent', `and status = 'completed'`),
    failed: await some('intent', `and status = 'failed'`),
    events: await ids(
      `select 'evt_' || id as id from intent_event where ${mine} and id % 97 = 0 limit 2000`,
    ),
    wallets,
    hashes,
    requests: await ids(`select id from request_log where ${mine} limit 2000`),
    fundings: await some('funding'),
    webhook: 'webhook_0',
    busiest: await owner('wallet')
      .where({ user_id: 'user-0' })
      .first<{ id: string }>('id')
      .then(({ id }) => id),
  }
}

async function openSessions(owner: Db): Promise<string[]> {
  const tokens = Array.from({ length: USERS }, newToken)
  await owner('user_session').insert(
    tokens.map((token, at) => ({
      ...{ id: `session_${at}`, token_hash: tokenDigest(token), user_id: `user_${at}` },
      ...{ account_id: 'acct_0', user_agent: 'bench', address: '127.0.0.1' },
    })),
  )
  return tokens
}
