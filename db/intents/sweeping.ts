import type { Knex } from 'knex'
import { fundingColumns, type Funding } from './fundings.js'
import { intentColumns, type Intent } from './intents.js'
import { LIVE, type Startable } from './starting.js'
import type { Tier } from '../../domain/tiers.js'
import type { Db } from '../connection/connect.js'

type Rows = Knex.QueryBuilder
const isOlder = (column: string) => `${column} < clock_timestamp() - ? * interval '1 millisecond'`

/** An intent whose end does not hold any more; `recoverAt` is its mark, exact to the microsecond. */
export type Reopened = { intent: Intent; recoverAt: string; tier: Tier; userId: string }

/**
 * Intents that were reopened, whatever has become of them since. Some of them, in no order: one whose run goes on keeps no
 * other one from its restart.
 */
export async function findReopened(db: Db, limit: number): Promise<Reopened[]> {
  const rows = await readIntents(db)
    .whereNotNull('i.recover_at')
    .orderByRaw('random()')
    .limit(limit)
    .select<(Intent & Omit<Reopened, 'intent'>)[]>(db.raw('i.recover_at::text as "recoverAt"'))
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

/** Intents and fundings by their ids, with what their starts need. */
export async function readStartables(db: Db, ids: string[]): Promise<Startable[]> {
  const intents = await readIntents(db)
    .whereIn('i.id', ids)
    .select<(Intent & { tier: Tier; userId: string })[]>()
  const fundings = await readFundings(db, ids)
  return [
    ...intents.map(({ tier, userId, ...row }) => ({ intent: row, tier, userId })),
    ...fundings.map(({ tier, ...row }) => ({ funding: row, tier })),
  ]
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

/** Of intents; few, found by index, in whose words this is. */
const BURNED = `
  select o.intent_id from burn b join operation o on o.id = b.operation_id
  where not b.minted and o.success and not exists (
    select from operation m
    where m.intent_id = o.intent_id and m.sequence = o.sequence and m.kind = 'mint'
      and m.state in ('mined', 'confirmed', 'final'))`
/** As an array: a plan for any values would rather read all intents, in the order of their ids, and join these. */
const UNMINTED = `id = any (array(${BURNED}))`

/** A funding that failed has no end of its own: its operation says so. */
const REFUSED = `
  select from operation o
  where o.intent_id = funding.id and o.kind = 'fund'
    and (o.state in ('rejected', 'cancelled') or o.state in ('confirmed', 'final') and not o.success)`

const readFundings = (db: Db, ids: string[]) =>
  db('funding as f')
    .join('account as a', 'a.id', 'f.account_id')
    .whereIn('f.id', ids)
    .select<(Funding & { tier: Tier })[]>([
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
