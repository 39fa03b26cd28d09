import { settles, settlingTypes, type EventType, type IntentEvent } from '../../domain/events.js'
import { keepPartitions } from '../connection/partitions.js'
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
export const IS_TOLD = 'e.xact < (select told_before())'

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
  const { rows } = await db.raw<{ rows: PageRow[] }>(
    `with scope as materialized (select set_config('app.account', ?, true) as account, ${HORIZON})
     select scope.horizon, q.* from scope left join lateral
       (select x.* from (?) x where scope.account = ? offset 0) q on true`,
    [accountId, query, accountId],
  )
  return toPage(rows, { after, limit: slice.limit })
}

export const HORIZON = '(select told_before()) as horizon'
type Horizon = { horizon: string }
/** An event, or none; and the horizon. */
export type PageRow = Horizon & { [K in keyof Row]: Row[K] | null }

/**
 * Rows of which one without an event tells the horizon only. What was read stays read: a later look may tell an
 * earlier horizon than the one before, of a transaction of which it cannot be told any more whose it was.
 */
export function toPage(
  rows: PageRow[],
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

/** The place up to which everything is told now. */
export async function readHorizon(db: Db): Promise<Position> {
  const { rows } = await db.raw<{ rows: [Horizon] }>(`select ${HORIZON}`)
  return { xact: BigInt(rows[0].horizon), id: 0n }
}
