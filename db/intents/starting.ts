import { namedColumns } from '../connection/columns.js'
import { runPrepared } from '../connection/prepared.js'
import { selectScoped } from '../connection/scope.js'
import { fundingColumns, type Funding } from './fundings.js'
import { intentColumns, type Intent } from './intents.js'
import type { Waiting } from '../connection/listen.js'
import type { Tier } from '../../domain/tiers.js'
import type { Db } from '../connection/connect.js'

/**
 * So many intents of an account are started of which no step is ordered yet, while others shall not wait for it: for a
 * machine that orders thirty a second that is a backlog of a quarter of a second.
 */
export const MOST_UNORDERED = 8
/** What was started before has died with its worker, or waits for one: it is no reason for others to wait. */
const UNORDERED_MS = 60_000
/** What somebody has taken to start it is left alone for so long: above the time that this may take. */
const TAKEN_MS = 5_000
/** What was tried is tried again after half its age by then, so that what Temporal refuses is asked for ever less often. */
const LONGEST_MS = 60_000

/** Of an intent that is not over. Few are, however many there are: found by index, in whose words this is. */
export const LIVE = `status not in ('completed', 'failed')`

/** What has a workflow that is started once it is stored. */
export type Kind = Waiting['kind']

/** An intent or a funding, and what a start says of it beside: the tier of its account, and the user of its wallet. */
export type Startable =
  { intent: Intent; tier: Tier; userId: string } | { funding: Funding; tier: Tier }

/**
 * `after`: the account that was served last; empty: none. `limit`: so many are taken at most. `room`: so many of an account
 * may be started of which no step is ordered yet. `least`: so many of each are taken whatever its room.
 */
export type Turn = { after: string; limit: number; room: number; least: number }

/** What was taken, and where the next turn goes on. `isWaiting`: there was something, whether it had room or not. */
export type Taken = { starts: Startable[]; after: string; isWaiting: boolean }

/** Its workflow is to be started, and nobody is about to. What is over without one, such as a cancelled intent, is not. */
const isUnstarted = (kind: Kind) =>
  `dispatched_at is null and ${kind === 'intent' ? LIVE : 'true'}
    and (swept_at is null or swept_at + greatest(${TAKEN_MS} * interval '1 millisecond',
      least((swept_at - created_at) / 2, ${LONGEST_MS} * interval '1 millisecond')) < clock_timestamp())`

const accountAfter = (kind: Kind, account: string) => `(
    select account_id from ${kind} where ${isUnstarted(kind)} and account_id > ${account} order by 1 limit 1)`

/** Counts as being started, or as started and not ordered yet. By a time that an index can be asked for. */
const recently = (alias: string) =>
  `${alias}.swept_at > statement_timestamp() - ${TAKEN_MS} * interval '1 millisecond'`
const lately = (alias: string) =>
  `${alias}.swept_at > statement_timestamp() - ${UNORDERED_MS} * interval '1 millisecond'`

/**
 * What of an account is being started, or is started and has no step ordered yet; $3 of them at most. Of fundings, which
 * do not say so themselves, the newest are looked at: those before them were ordered before them. In the order of an
 * index, or a plan would rather read all that waits.
 */
const unordered: Record<Kind, string> = {
  intent: `
    (select from intent i
      where i.account_id = t.account_id and i.status = 'planning' and i.dispatched_at is not null and ${lately('i')}
      limit cast($3 as bigint))
    union all
    (select from intent i
      where i.account_id = t.account_id and i.dispatched_at is null and i.${LIVE} and ${recently('i')}
      order by i.swept_at desc nulls last limit cast($3 as bigint))`,
  funding: `
    select from (
      select f.id from funding f
      where f.account_id = t.account_id and f.completed_at is null and ${lately('f')}
        and (f.dispatched_at is not null or ${recently('f')})
      order by f.swept_at desc limit 2 * cast($3 as bigint)) newest
    where not exists (select from operation o where o.intent_id = newest.id)
    limit cast($3 as bigint)`,
}

const columnsOf = { intent: intentColumns, funding: fundingColumns }

/**
 * `turns` walks from account to account, each step one look into an index. Of each no more are looked at than are taken
 * together, and by arrays, so that the cost does not hang on how much waits. $1 to $4: the turn.
 */
const takeOf = (kind: Kind) => `
with recursive turns (account_id, n) as (
  select cast($1 as text), 0
  union all
  select next.account_id, t.n + 1 from turns t cross join lateral ${accountAfter(kind, 't.account_id')} next
  where t.n < cast($2 as bigint)
), served as (
  select t.account_id, cast($3 as bigint) - (select count(*) from (${unordered[kind]}) unordered) as room
  from turns t where t.n > 0
), candidate as (
  select one.* from served t cross join lateral (
    select id, created_at, row_number() over (order by swept_at nulls first, created_at) as place from ${kind}
    where account_id = t.account_id and ${isUnstarted(kind)}
    order by swept_at nulls first, created_at limit greatest(t.room, cast($4 as bigint))) one
), chosen as (
  select id from candidate order by place, created_at limit cast($2 as bigint)
), taken as (
  update ${kind} set swept_at = clock_timestamp() where id = any (array(
    select id from ${kind} where id = any (array(select id from chosen)) and ${isUnstarted(kind)}
    for update skip locked))
  returning ${namedColumns(kind, columnsOf[kind])})
select turn.*, taken.*, a.plan as tier${kind === 'intent' ? ', w.user_id as "userId"' : ''}
from (
  select coalesce((select account_id from turns where n = cast($2 as bigint)), '') as "upTo",
    exists (select from served) as "isWaiting"
) turn
left join taken on true
left join account a on a.id = taken."accountId"
${kind === 'intent' ? 'left join wallet w on w.id = taken."walletId"' : ''}`

const statements = {
  intent: { name: 'take intents to start', text: takeOf('intent') },
  funding: { name: 'take fundings to start', text: takeOf('funding') },
}

/** A row that was taken, if any, with what is told of all of them. */
type Found = { upTo: string; isWaiting: boolean; id: string | null } & {
  tier: Tier
  userId: string
}

/**
 * Takes some rows whose workflow is to be started, account by account; of each those that were never tried first, then
 * the oldest. Whoever asks at the same time or soon after gets others.
 */
export async function takeToStart(db: Db, kind: Kind, turn: Turn): Promise<Taken> {
  const values = [turn.after, turn.limit, turn.room, turn.least]
  const found = await runPrepared<Found>(db, statements[kind], values)
  const { upTo = '', isWaiting = false } = found[0] ?? {}
  // Behind the last account comes the first one.
  if (!isWaiting && turn.after !== '') return takeToStart(db, kind, { ...turn, after: '' })
  const rows = found.filter(({ id }) => id !== null)
  return { starts: rows.map((row) => toStartable(kind, row)), after: upTo, isWaiting }
}

function toStartable(kind: Kind, row: Found): Startable {
  const { tier, userId } = row
  if (kind === 'intent') return { intent: row as unknown as Intent, tier, userId }
  return { funding: row as unknown as Funding, tier }
}

/** How many intents of an account are stored and not started: `MOST_UNORDERED` at most. */
export async function countUnstarted(db: Db, accountId: string): Promise<number> {
  const unstarted = db('intent')
    .where({ account_id: accountId, dispatched_at: null })
    .whereRaw(LIVE)
    .limit(MOST_UNORDERED)
    .select('id')
  const count = db.from(unstarted.as('unstarted')).count<{ count: bigint }[]>('* as count')
  const [row] = await selectScoped<{ count: bigint }>(db, accountId, count)
  return Number(row?.count ?? 0)
}
