import pg from 'pg'
import { createApiKey } from '../../db/accounts/accounts.js'
import { newToken, tokenDigest } from '../../db/accounts/sessions.js'
import { publishKek } from '../../db/keys.js'
import { makeKek } from '../../test/custody/kek/kekFile.js'
import { FACTS, INTENTS, SENDERS, LIVE, REQUESTS, owners, seed } from './rows.js'
import type { Db } from '../../db/client/connect.js'

/** Dashboard users. A single one is limited to 600 requests per minute. */
const USERS = 40
/** Number of sampled rows of each kind, used in turn. */
const SAMPLE = 400

/** The calling account, and samples of its rows. */
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
  /** The wallet with the most rows. */
  busiest: string
}

/**
 * Fills a fresh database with intents of the last ninety days, a tenth as many wallets, and their rows: operations,
 * transactions, reservations, events, ledger, stored responses, requests and deliveries. Half of them belong to the
 * calling account. The number of open intents, and of rows of the last two days, is independent of the size.
 */
export async function fill(
  { owner, url }: { owner: Db; url: string },
  intents: number,
): Promise<Filled> {
  const kek = await makeKek()
  await publishKek(owner, kek)
  // The statement timeout of a pool session is far too short for a million rows.
  const session = new pg.Client({ connectionString: url })
  await session.connect()
  const wallets = Math.max(50, Math.floor(intents / 10))
  const begin = [owners({ wallets, users: USERS }), seed({ wallets, intents })]
  try {
    // Without triggers and foreign key checks, which would check each row.
    await session.query('set session_replication_role = replica')
    await session.query(`set maintenance_work_mem = '256MB'; set work_mem = '64MB'`)
    const indexes = await dropIndexes(session)
    for (const sql of [...begin, INTENTS, FACTS, SENDERS, LIVE]) await session.query(sql)
    await session.query('drop table step')
    await session.query(REQUESTS)
    await session.query('drop table asked, live, seed, tokenBalance')
    for (const sql of indexes) await session.query(sql)
    await session.query('vacuum (analyze)')
    return await readSample(session, owner)
  } finally {
    await session.end()
  }
}

/** Tables with one or more rows per intent. */
const BIG = [
  ...['intent', 'reservation', 'chain_tx', 'chain_tx_send', 'operation', 'signature', 'burn'],
  ...['intent_event', 'ledger', 'idempotency_key', 'funding', 'webhook_delivery', 'wallet'],
  'request_log',
]

/**
 * Drops the indexes of big tables that no constraint needs. Building one from sorted rows takes a fraction of the
 * time.
 *
 * @returns SQL that recreates them.
 */
async function dropIndexes(session: pg.Client): Promise<string[]> {
  const { rows } = await session.query<{ name: string; made: string }>(
    `select c.relname as name, replace(pg_get_indexdef(c.oid), ' ON ONLY ', ' ON ') as made
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = any (select unnest($1::text[])::regclass) and not i.indisunique`,
    [BIG],
  )
  for (const { name } of rows) await session.query(`drop index ${name}`)
  return rows.map(({ made }) => made)
}

const MINE = `account_id = 'acct_0'`

async function readSample(session: pg.Client, owner: Db): Promise<Filled> {
  const read = async <Row extends pg.QueryResultRow>(sql: string) =>
    (await session.query<Row>(sql)).rows
  const ids = async (sql: string) => {
    const rows = await read<{ id: string }>(
      `select id from (${sql}) s order by md5(id) limit ${SAMPLE}`,
    )
    return rows.map(({ id }) => id)
  }
  const some = (table: string, more = '') => ids(`select id from ${table} where ${MINE} ${more}`)
  const [busiest] = await read<{ id: string }>(`select id from wallet where user_id = 'user-0'`)
  return {
    key: await createApiKey(owner, 'acct_0', { name: 'bench' }),
    sessions: await openSessions(owner),
    intents: await some('intent', `and status = 'completed'`),
    failed: await some('intent', `and status = 'failed'`),
    events: await ids(
      `select 'evt_' || id as id from intent_event where ${MINE} and id % 97 = 0 limit 2000`,
    ),
    wallets: await read<{ id: string; userId: string }>(
      `select id, user_id as "userId" from wallet where ${MINE} order by md5(id) limit ${SAMPLE}`,
    ),
    hashes: await ids(`select tx_hash as id from operation where ${MINE} and state = 'final'`),
    requests: await ids(`select id from request_log where ${MINE} limit 2000`),
    fundings: await some('funding'),
    webhook: 'webhook_0',
    busiest: busiest?.id ?? '',
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
