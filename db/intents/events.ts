import { settles, settlingTypes, type EventType, type IntentEvent } from '../../domain/events.js'
import { keepPartitions } from '../connection/partitions.js'
import { runPrepared, type Statement } from '../connection/prepared.js'
import { selectScoped } from '../connection/scope.js'
import type { Knex } from 'knex'
import type { Db } from '../connection/connect.js'

/**
 * A place in the order in which events are told, after those up to it. It need not be that of an event: `id` 0
 * stands before all events of its transaction.
 */
export type Position = { xact: bigint; id: bigint }

/** Before the first event of all. */
export const BEGINNING: Position = { xact: 0n, id: 0n }

export const isBefore = (a: Position, b: Position): boolean =>
  a.xact < b.xact || (a.xact === b.xact && a.id < b.id)

/** An event at its place. */
export type PlacedEvent = IntentEvent & Position

/** What is read of the story. What is absent does not restrict. */
export type EventFilter = { intentId?: string; walletId?: string; types?: readonly EventType[] }

/** A part of the story: the `limit` events, `MOST_ROWS` and one at most, that follow the one whose id is `after`. */
export type EventSlice = EventFilter & { after?: bigint; limit: number }

/** Text where the driver knows no number: `xact` is an xid8. */
type Row = IntentEvent & { xact: string }

const columns = [
  ...['e.id', 'e.intent_id as intentId', 'e.wallet_id as walletId', 'e.type', 'e.data', 'e.at'],
  'e.xact',
]
/** No transaction runs that could still put an event before these. Asked once for all rows. */
const IS_TOLD = 'e.xact < (select told_before())'

/**
 * Events of the account, oldest first. Whoever goes on after the last one he has read misses none and reads
 * none twice: an event is told once no transaction runs that could still put another one before it. So a
 * transaction that takes long holds the news back, for the seconds that one may last. After an id that the
 * account does not have nothing follows.
 */
export async function readEvents(
  db: Db,
  accountId: string,
  { after, limit, ...filter }: EventSlice,
): Promise<IntentEvent[]> {
  const follow = (part: Knex.QueryBuilder) => {
    if (after === undefined) return
    const cursor = db('intent_event').where({ account_id: accountId, id: after.toString() })
    void part.whereRaw('(e.xact, e.id) > (?)', [cursor.select('xact', 'id')])
  }
  const query = storyOf(db, accountId, { ...filter, limit, follow })
  return (await selectScoped<Row>(db, accountId, query)).map(toPlaced)
}

/** `horizon`: all that comes before it has been read, the last event of a full page included. */
export type EventPage = { events: PlacedEvent[]; horizon: Position; isFull: boolean }

/** Events as `readEvents` tells them, after a place, and how far the story has been read with them. */
export async function readPage(
  db: Db,
  accountId: string,
  { after, ...slice }: EventFilter & { after: Position; limit: number },
): Promise<EventPage> {
  const place = [after.xact.toString(), after.id.toString()]
  const follow = (part: Knex.QueryBuilder) => {
    void part.whereRaw('(e.xact, e.id) > (?::xid8, ?)', place)
  }
  const query = storyOf(db, accountId, { ...slice, follow })
  const { rows } = await db.raw<{ rows: (Horizon & Nullable<Row>)[] }>(
    `with scope as materialized (select set_config('app.account', ?, true) as account, ${HORIZON})
     select scope.horizon, q.* from scope left join lateral
       (select x.* from (?) x where scope.account = ? offset 0) q on true`,
    [accountId, query, accountId],
  )
  return toPage(rows, { after, limit: slice.limit })
}

const HORIZON = '(select told_before()) as horizon'
type Horizon = { horizon: string }
type Nullable<T> = { [K in keyof T]: T[K] | null }

/**
 * Rows of which one without an event tells the horizon only. What was read stays read: a later look may tell an
 * earlier horizon than the one before, of a transaction of which it cannot be told any more whose it was.
 */
function toPage(
  rows: (Horizon & Nullable<Row>)[],
  { after, limit }: { after: Position; limit: number },
): EventPage {
  const events = rows.flatMap((row) => (row.id === null ? [] : [toPlaced(row as Row)]))
  const isFull = events.length >= limit
  const last = events.at(-1)
  const told = { xact: BigInt(rows[0]?.horizon ?? '0'), id: 0n }
  const horizon = isBefore(told, after) ? after : told
  return { events, isFull, horizon: isFull && last ? last : horizon }
}

const toPlaced = ({ xact, ...row }: Row): PlacedEvent => ({ ...row, xact: BigInt(xact) })

/**
 * `limit` is part of the text, the same for all who read in one way: a plan for any values knows by it how few there
 * are, and need not be made anew.
 */
type Part = EventFilter & { limit: number }

/**
 * The events that pass a filter, in their order. Several types are read one by one, each from its index: among all
 * events of an account those of rare types would have to be looked for.
 *
 * `follow` restricts what is read to what comes after a place.
 */
function storyOf(
  db: Db,
  accountId: string,
  { limit, types, follow, ...filter }: Part & { follow: (part: Knex.QueryBuilder) => void },
): Knex.QueryBuilder {
  const parts = [...new Set(types)].map((type) => {
    const part = partOf(db, accountId, { ...filter, limit }).where('e.type', type)
    follow(part)
    return part
  })
  if (parts.length > 1) {
    return db.queryBuilder().unionAll(parts, true).orderBy(['xact', 'id']).limit(limit)
  }
  const [one = partOf(db, accountId, { ...filter, limit })] = parts
  if (parts.length === 0) follow(one)
  return one
}

function partOf(db: Db, accountId: string, { limit, intentId, walletId }: Part): Knex.QueryBuilder {
  const query = db('intent_event as e')
    .where('e.account_id', accountId)
    .whereRaw(IS_TOLD)
    .orderBy(['e.xact', 'e.id'])
    .limit(limit)
    .select(columns)
  if (intentId !== undefined) void query.where('e.intent_id', intentId)
  if (walletId !== undefined) void query.where('e.wallet_id', walletId)
  return query
}

/** Where an event of the account stands, undefined when the account has none of this id. */
export async function findPosition(
  db: Db,
  accountId: string,
  id: bigint,
): Promise<Position | undefined> {
  const query = db('intent_event as e').where({ account_id: accountId, id: id.toString() })
  const [row] = await selectScoped<Row>(db, accountId, query.select('xact', 'id'))
  return row && toPlaced(row)
}

/** Where the last event stands that the account was told, the beginning when it was told none. */
export async function readLastPosition(db: Db, accountId: string): Promise<Position> {
  const query = db('intent_event as e')
    .where('e.account_id', accountId)
    .whereRaw(IS_TOLD)
    .orderBy([
      { column: 'e.xact', order: 'desc' },
      { column: 'e.id', order: 'desc' },
    ])
    .limit(1)
    .select('e.xact', 'e.id')
  const [row] = await selectScoped<Row>(db, accountId, query)
  return row ? toPlaced(row) : BEGINNING
}

/** True when nothing more was to be expected of the intent once it had been told up to this place. */
export async function wasSettled(
  db: Db,
  accountId: string,
  { intentId, at }: { intentId: string; at: Position },
): Promise<boolean> {
  const query = db('intent_event as e')
    .where({ account_id: accountId, intent_id: intentId })
    .whereIn('type', settlingTypes)
    .whereRaw('(e.xact, e.id) <= (?::xid8, ?)', [at.xact.toString(), at.id.toString()])
    .orderBy([
      { column: 'e.xact', order: 'desc' },
      { column: 'e.id', order: 'desc' },
    ])
    .limit(1)
    .select(columns)
  const [row] = await selectScoped<Row>(db, accountId, query)
  return row !== undefined && settles(row) === true
}

/** Events up to the number `id`, and those told before `before`, may be kept no longer. */
export type EventFloor = { id: bigint; before: Date | null }

export async function readEventFloor(db: Db): Promise<EventFloor> {
  return db('event_floor').first<EventFloor>('id', 'before')
}

/** Months whose partitions are there before they begin. */
const MONTHS_AHEAD = 2

/**
 * Keeps the partitions of events.
 *
 * @param keptDays - Below 31 it counts as 31: deliveries of webhooks are sent again for a month.
 */
export const keepEvents = (db: Db, keptDays: number) =>
  keepPartitions(db, { table: 'intent_event', unit: 'month', ahead: MONTHS_AHEAD, keptDays })

/** Which account's news are wanted, and after which place. */
export type Wanted = { accountId: string; after: Position }

/** `isHeld`: there are more that are committed, and a transaction still runs that could put one before them. */
export type News = EventPage & { isHeld: boolean }

/**
 * What follows in the stories of several accounts, by one statement: it sees of each its own events only.
 *
 * @returns In the order of `wanted`; at most `limit` events of each.
 */
export async function readNews(db: Db, wanted: Wanted[], limit: number): Promise<News[]> {
  const rows = await runPrepared<NewsRow>(db, newsStatement, [
    wanted.map(({ accountId }) => accountId),
    wanted.map(({ after }) => after.xact.toString()),
    wanted.map(({ after }) => after.id.toString()),
    limit,
  ])
  const parts = wanted.map((): NewsRow[] => [])
  for (const row of rows) parts[Number(row.callAt) - 1]?.push(row)
  return wanted.map(({ after }, at) => {
    const part = parts[at] ?? []
    const told = part.filter(({ isTold }) => isTold !== false)
    const isHeld = told.length < part.length
    // Where one is held back, all that may be told before it has been read.
    const shown = told.length > 0 ? told : part.map(withoutEvent)
    const page = toPage(shown, { after, limit: isHeld ? Infinity : limit })
    return { ...page, isHeld }
  })
}

type NewsRow = Horizon & Nullable<Row> & { callAt: bigint; isTold: boolean | null }
const withoutEvent = (row: NewsRow): NewsRow => ({ ...row, id: null })

const newsStatement: Statement = {
  name: 'news',
  text: `select call.at as "callAt", ${HORIZON}, x.*
    from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as call (account, xact, id, at)
    cross join lateral (select set_config('app.account', call.account, true) as account) as scope
    left join lateral (
      select e.id, e.intent_id as "intentId", e.wallet_id as "walletId", e.type, e.data, e.at, e.xact,
        ${IS_TOLD} as "isTold"
      from intent_event e
      where e.account_id = scope.account and (e.xact, e.id) > (call.xact::xid8, call.id)
      order by e.xact, e.id limit $4 offset 0) as x on true
    order by call.at, x.xact, x.id`,
}

/** The place up to which everything is told now. */
export async function readHorizon(db: Db): Promise<Position> {
  const { rows } = await db.raw<{ rows: [Horizon] }>(`select ${HORIZON}`)
  return { xact: BigInt(rows[0].horizon), id: 0n }
}
