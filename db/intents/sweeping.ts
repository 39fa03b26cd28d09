import type { Knex } from 'knex'
import { fundingColumns, type Funding } from './fundings.js'
import { intentColumns, type Intent } from './intents.js'
import { MOST_UNORDERED, UNORDERED_MS } from './unordered.js'
import type { Tier } from '../../domain/tiers.js'
import { runPrepared } from '../connection/prepared.js'
import type { Db } from '../connection/connect.js'

/** What a start says of an intent beside it: the tier of its account, and the user of its wallet. */
type Owned = { tier: Tier; userId: string }

/** Whose workflow is to be started. `isHeldUp`: nobody's now, though some wait: their accounts have no room. */
export type Startable = {
  intents: ({ intent: Intent } & Owned)[]
  fundings: { funding: Funding; tier: Tier }[]
  isHeldUp: boolean
}

/** As many of each kind are started at the same time. */
const BATCH = 10
/** A row that was taken is left alone for so long: above the time that its start may take. */
const TAKEN_MS = 30_000

type Rows = Knex.QueryBuilder
const isOlder = (column: string) => `${column} < clock_timestamp() - ? * interval '1 millisecond'`

/**
 * Where a round is among the accounts: of each kind the one that was served last, empty at first. `least`: so many of an
 * account are taken though others of it have no step ordered yet.
 */
export type Round = Record<Table, string> & { least: number }

/**
 * Takes some rows whose workflow should have been started a while ago, account by account; of each those that were
 * never tried first, then the oldest. What is over without a workflow, such as a cancelled intent, is none of them.
 * Whoever asks at the same time or soon after gets others.
 *
 * @param round - Moved on by the call.
 */
export async function takeUndispatched(
  db: Db,
  olderThanMs: number,
  round: Round = { intent: '', funding: '', least: 0 },
): Promise<Startable> {
  const intents = await takeInTurn(db, 'intent', { olderThanMs, round })
  const fundings = await takeInTurn(db, 'funding', { olderThanMs, round })
  const isWaiting = intents.isWaiting || fundings.isWaiting
  const isHeldUp = isWaiting && intents.ids.length + fundings.ids.length === 0
  return readTaken(db, { intentIds: intents.ids, fundingIds: fundings.ids, isHeldUp })
}

/** An intent whose end does not hold any more; `recoverAt` is its mark, exact to the microsecond. */
export type Reopened = { intent: Intent; recoverAt: string } & Owned

/** Takes some intents that were reopened, whatever has become of them since, as `takeUndispatched` does. */
export async function takeReopened(db: Db): Promise<Reopened[]> {
  const ids = await takeIds(db, 'intent', db('intent').whereNotNull('recover_at'))
  const rows = await readStartable(db, ids).select<(Intent & Omit<Reopened, 'intent'>)[]>(
    db.raw('i.recover_at::text as "recoverAt"'),
  )
  return rows.map(({ tier, userId, recoverAt, ...intent }) => ({ intent, tier, userId, recoverAt }))
}

/**
 * Ids of intents and fundings of which something is left to do though their workflow was started a while ago:
 * those that are not over, and whatever their status the intents whose burned money has not come out. A page of
 * them, by id.
 *
 * @param after - The last id of the page before.
 */
export async function findLingering(
  db: Db,
  olderThanMs: number,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const pageOf = (part: Rows) =>
    part.where('id', '>', after).orderBy('id').limit(limit).select('id')
  // A page of each part: of all that is not over together, every page would read all.
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

/** Takes some of the given rows that linger still, as `takeUndispatched` does. */
export async function takeLingering(
  db: Db,
  olderThanMs: number,
  ids: string[],
): Promise<Startable> {
  const intent = dispatched(db, 'intent', olderThanMs).whereRaw(`(${LIVE} or ${UNMINTED})`)
  const funding = openFundings(db, olderThanMs)
  const intentIds = await takeIds(db, 'intent', intent.whereIn('id', ids))
  const fundingIds = await takeIds(db, 'funding', funding.whereIn('id', ids))
  return readTaken(db, { intentIds, fundingIds, isHeldUp: false })
}

/**
 * Most of what is executed has an operation under way, which is found without a look at all that was ever done. What
 * was not begun has none to look for; the first condition is that of the index. `offset 0` has this asked first,
 * whatever the planner expects.
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
 * Ids of intents whose last step is confirmed since a while and that are not completed: the worker in which it waited
 * has died, or does not come to it. None of which an operation is under way, such as a step that a reorg has taken
 * back. Some of them, whichever: one whose earlier steps do not bear its end keeps no other one from it.
 */
export async function findDone(
  db: Db,
  { forMs, limit }: { forMs: number; limit: number },
): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(DONE, [forMs, limit])
  return rows.map(({ id }) => id)
}

type Table = 'intent' | 'funding'

const dispatched = (db: Db, table: Table, olderThanMs: number): Rows =>
  db(table).whereRaw(isOlder('dispatched_at'), [olderThanMs])

const openFundings = (db: Db, olderThanMs: number): Rows =>
  dispatched(db, 'funding', olderThanMs)
    .whereNull('completed_at')
    .whereRaw(`not exists (${REFUSED})`)

/** Of intents. Both are few, however many intents there are: found by index, in whose words this is, not among all. */
const LIVE = `status not in ('completed', 'failed')`
const BURNED = `
  select o.intent_id from burn b join operation o on o.id = b.operation_id
  where not b.minted and o.success and not exists (
    select from operation m
    where m.intent_id = o.intent_id and m.sequence = o.sequence and m.kind = 'mint'
      and m.state in ('mined', 'confirmed', 'final'))`
/** As an array: a plan for any values would rather read all intents, in the order of their ids, and join these. */
const UNMINTED = `id = any (array(${BURNED}))`

/** Ids of intents that are not over. */
export const UNFINISHED = `select id from intent where ${LIVE} union ${BURNED}`

/** A funding that failed has no end of its own: its operation says so. */
const REFUSED = `
  select from operation o
  where o.intent_id = funding.id and o.kind = 'fund'
    and (o.state in ('rejected', 'cancelled') or o.state in ('confirmed', 'final') and not o.success)`

type Taken = { intentIds: string[]; fundingIds: string[]; isHeldUp: boolean }

async function readTaken(db: Db, { intentIds, fundingIds, isHeldUp }: Taken): Promise<Startable> {
  const rows = await readStartable(db, intentIds).select<(Intent & Owned)[]>()
  const fundings = await readFundings(db, fundingIds)
  return {
    intents: rows.map(({ tier, userId, ...intent }) => ({ intent, tier, userId })),
    fundings: fundings.map(({ tier, ...funding }) => ({ funding, tier })),
    isHeldUp,
  }
}

const readFundings = (db: Db, ids: string[]) =>
  db('funding as f')
    .join('account as a', 'a.id', 'f.account_id')
    .whereIn('f.id', ids)
    .select<(Funding & { tier: Tier })[]>([
      ...fundingColumns.map((column) => `f.${column}`),
      'a.plan as tier',
    ])

const readStartable = (db: Db, ids: string[]) =>
  db('intent as i')
    .join('account as a', 'a.id', 'i.account_id')
    .join('wallet as w', 'w.id', 'i.wallet_id')
    .whereIn('i.id', ids)
    .select([
      ...intentColumns.map((column) => `i.${column}`),
      'a.plan as tier',
      'w.user_id as userId',
    ])

/** Its workflow should have been started a while ago, and nobody tries to. */
const isUnstarted = (table: Table) =>
  `dispatched_at is null and ${table === 'intent' ? LIVE : 'true'}
    and created_at < clock_timestamp() - cast($1 as double precision) * interval '1 millisecond'
    and (swept_at is null or swept_at < clock_timestamp() - ${TAKEN_MS} * interval '1 millisecond')`

const accountAfter = (table: Table, account: string) => `(
    select account_id from ${table} where ${isUnstarted(table)} and account_id > ${account} order by 1 limit 1)`

/** Of an account so many may be started now, beside those that were taken of it and have no step ordered yet. */
const roomOf: Record<Table, string> = {
  intent: `(
    select ${MOST_UNORDERED} - count(*) from (
      select from intent i
      where i.account_id = t.account_id and i.status = 'planning' and i.dispatched_at is not null
        and i.swept_at > clock_timestamp() - ${UNORDERED_MS} * interval '1 millisecond'
      limit ${MOST_UNORDERED}) unordered)`,
  funding: String(BATCH),
}

/**
 * `turns` walks from account to account, each step one look into an index. Of each as many are looked at as are taken
 * together, and by arrays, so that the cost does not hang on how much waits.
 */
const takeOfAccounts = (table: Table) => `
with recursive turns (account_id, n) as (
  select cast($2 as text), 0
  union all
  select next.account_id, t.n + 1 from turns t cross join lateral ${accountAfter(table, 't.account_id')} next
  where t.n < ${BATCH}
), served as (
  select t.account_id, ${roomOf[table]} as room from turns t where t.n > 0
), candidate as (
  select one.* from served t cross join lateral (
    select id, created_at, row_number() over (order by swept_at nulls first, created_at) as place from ${table}
    where account_id = t.account_id and ${isUnstarted(table)}
    order by swept_at nulls first, created_at limit greatest(t.room, cast($3 as bigint))) one
), chosen as (
  select id from candidate order by place, created_at limit ${BATCH}
), taken as (
  update ${table} set swept_at = clock_timestamp() where id = any (array(
    select id from ${table} where id = any (array(select id from chosen)) and ${isUnstarted(table)}
    for update skip locked))
  returning id)
select coalesce((select account_id from turns where n = ${BATCH}), '') as "upTo", array(select id from taken) as ids,
  exists (select from served) as "isWaiting"`

type Turn = { upTo: string; ids: string[]; isWaiting: boolean }

/** Takes rows of the accounts whose turn it is; of the first ones again after the last. */
async function takeInTurn(
  db: Db,
  table: Table,
  { olderThanMs, round }: { olderThanMs: number; round: Round },
): Promise<{ ids: string[]; isWaiting: boolean }> {
  const { [table]: after, least } = round
  const statement = { name: `sweep ${table}s`, text: takeOfAccounts(table) }
  const [turn] = await runPrepared<Turn>(db, statement, [olderThanMs, after, least])
  const { upTo = '', ids = [], isWaiting = false } = turn ?? {}
  round[table] = upTo
  if (!isWaiting && after !== '') return takeInTurn(db, table, { olderThanMs, round })
  return { ids, isWaiting }
}

async function takeIds(db: Db, table: Table, lost: Rows): Promise<string[]> {
  const free = lost
    .whereRaw(`(swept_at is null or ${isOlder('swept_at')})`, [TAKEN_MS])
    .orderByRaw('swept_at nulls first, created_at')
    .limit(BATCH)
    .forUpdate()
    .skipLocked()
    .select('id')
  // As an array: a join might run the inner query, and lock its rows, more than once.
  const taken = await db(table)
    .whereRaw('id = any (array(?))', [free])
    .update({ swept_at: db.raw('clock_timestamp()') })
    .returning<{ id: string }[]>('id')
  return taken.map(({ id }) => id)
}
