import type { Knex } from 'knex'
import { fundingColumns, type StoredFunding } from './fundings.js'
import { intentColumns, type StoredIntent } from './intents.js'
import { LIVE, type Startable } from './starting.js'
import type { Tier } from '../../domain/tiers.js'
import type { Db } from '../client/connect.js'

type RowQuery = Knex.QueryBuilder
const isOlder = (column: string) => `${column} < clock_timestamp() - ? * interval '1 millisecond'`

/** An intent whose reported end is invalid. `recoverAt` is its mark, exact to the microsecond. */
export type Reopened = { intent: StoredIntent; recoverAt: string; tier: Tier; userId: string }

/**
 * Intents that were reopened, in any current status. The order is random, so that an intent whose run continues blocks
 * no other restart.
 */
export async function findReopened(db: Db, limit: number): Promise<Reopened[]> {
  const rows = await readIntents(db)
    .whereNotNull('i.recover_at')
    .orderByRaw('random()')
    .limit(limit)
    .select<(StoredIntent & Omit<Reopened, 'intent'>)[]>(
      db.raw('i.recover_at::text as "recoverAt"'),
    )
  return rows.map(({ tier, userId, recoverAt, ...intent }) => ({ intent, tier, userId, recoverAt }))
}

/**
 * Ids of intents and fundings with work left whose workflow was started a while ago: open ones, and intents of any
 * status with burned money that has not arrived. A page of them, by id.
 *
 * @param after - The last id of the previous page.
 */
export async function findLingering(
  db: Db,
  olderThanMs: number,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const pageOf = (part: RowQuery) =>
    part.where('id', '>', after).orderBy('id').limit(limit).select('id')
  // One page per part: a page of their union would read all rows.
  const parts = [
    dispatched(db, 'intent', olderThanMs).whereRaw(LIVE),
    dispatched(db, 'intent', olderThanMs).whereRaw(UNMINTED),
    openFundings(db, olderThanMs),
  ].map(pageOf)
  return db
    .from(db.union(parts, true).as('lingering'))
    .orderBy('id')
    .limit(limit)
    .pluck<string[]>('id')
}

/** Intents and fundings by their ids, with the data that their start needs. */
export async function readStartables(db: Db, ids: string[]): Promise<Startable[]> {
  const intents = await readIntents(db)
    .whereIn('i.id', ids)
    .select<(StoredIntent & { tier: Tier; userId: string })[]>()
  const fundings = await readFundings(db, ids)
  return [
    ...intents.map(({ tier, userId, ...row }) => ({ intent: row, tier, userId })),
    ...fundings.map(({ tier, ...row }) => ({ funding: row, tier })),
  ]
}

/**
 * Executing intents without an open operation. The first condition is that of the index. `offset 0` makes Postgres
 * evaluate this query first.
 */
const IDLE = `
select id, plan from intent i
where status not in ('completed', 'failed') and status = 'executing' and not exists (
  select from operation op
  where op.intent_id = i.id and op.state in ('queued', 'deferred', 'signed', 'mined'))
offset 0`
const DONE = `
select i.id from (${IDLE}) i cross join lateral (
  select op.sequence, op.kind, op.state, op.success, op.ended_at from operation op
  where op.intent_id = i.id order by op.sequence desc, op.created_at desc limit 1
) last
where last.state in ('confirmed', 'final') and last.success and last.kind <> 'bridge'
  and ${isOlder('last.ended_at')} and last.sequence = json_array_length(i.plan -> 'steps')
order by random() limit ?`

/**
 * Ids of intents that are not completed although their last step was confirmed a while ago, because their worker died or
 * is overloaded. Intents with an open operation, such as a reverted step, are excluded. The order is random, so that an
 * intent with an unconfirmed earlier step blocks no other.
 */
export async function findDone(
  db: Db,
  { forMs, limit }: { forMs: number; limit: number },
): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(DONE, [forMs, limit])
  return rows.map(({ id }) => id)
}

type Table = 'intent' | 'funding'

const dispatched = (db: Db, table: Table, olderThanMs: number): RowQuery =>
  db(table).whereRaw(isOlder('dispatched_at'), [olderThanMs])

const openFundings = (db: Db, olderThanMs: number): RowQuery =>
  dispatched(db, 'funding', olderThanMs)
    .whereNull('completed_at')
    .whereRaw(`not exists (${REFUSED})`)

/** Intents with burned money that has not arrived. The condition matches the predicate of an index. */
const BURNED = `
  select o.intent_id from burn b join operation o on o.id = b.operation_id
  where not b.minted and o.success and not exists (
    select from operation m
    where m.intent_id = o.intent_id and m.sequence = o.sequence and m.kind = 'mint'
      and m.state in ('mined', 'confirmed', 'final'))`
/** An array: a generic plan for a join would read all intents in the order of their ids. */
const UNMINTED = `id = any (array(${BURNED}))`

/** A failed funding has no end of its own. Its operation records the failure. */
const REFUSED = `
  select from operation o
  where o.intent_id = funding.id and o.kind = 'fund'
    and (o.state in ('rejected', 'cancelled') or o.state in ('confirmed', 'final') and not o.success)`

const readFundings = (db: Db, ids: string[]) =>
  db('funding as f')
    .join('account as a', 'a.id', 'f.account_id')
    .whereIn('f.id', ids)
    .select<(StoredFunding & { tier: Tier })[]>([
      ...fundingColumns.map((column) => `f.${column}`),
      'a.plan as tier',
    ])

const readIntents = (db: Db) =>
  db('intent as i')
    .join('account as a', 'a.id', 'i.account_id')
    .join('wallet as w', 'w.id', 'i.wallet_id')
    .select([
      ...intentColumns.map((column) => `i.${column}`),
      'a.plan as tier',
      'w.user_id as userId',
    ])
