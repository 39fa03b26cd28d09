import {
  settles,
  settlingTypes,
  type EventType,
  type IntentEvent,
} from '../../domain/events/events.js'
import { keepPartitions } from '../client/partitions.js'
import { selectScoped } from '../client/scope.js'
import type { Knex } from 'knex'
import type { Db } from '../client/connect.js'

/**
 * A position in the event log, after all events up to it. It need not be that of an event: `id` 0 is before all events
 * of its transaction.
 */
export type EventPosition = { xact: bigint; id: bigint }

/** The position before the first event. */
export const BEGINNING: EventPosition = { xact: 0n, id: 0n }

export const isBefore = (a: EventPosition, b: EventPosition): boolean =>
  a.xact < b.xact || (a.xact === b.xact && a.id < b.id)

/** An event with its position. */
export type PlacedEvent = IntentEvent & EventPosition

/** Selects events. Absent fields do not restrict. */
export type EventFilter = { intentId?: string; walletId?: string; types?: readonly EventType[] }

/** A part of the event log: at most `limit` events (`MOST_ROWS` plus one) after the event with the id `after`. */
export type EventSlice = EventFilter & { after?: bigint; limit: number }

/** `xact` is an xid8, which the driver returns as text. */
type EventRow = IntentEvent & { xact: string }

const columns = [
  ...['e.id', 'e.intent_id as intentId', 'e.wallet_id as walletId', 'e.type', 'e.data', 'e.at'],
  'e.xact',
]
/** True for events before the event horizon. The horizon is read once per statement. */
export const BEFORE_HORIZON = 'e.xact < (select event_horizon())'

/**
 * Events of the account, oldest first. A reader that resumes after its last event misses none and reads none twice: an
 * event appears once no running transaction can still write an earlier one. A long transaction delays events for as
 * long as it runs. After an unknown id the result is empty.
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
  const query = selectEvents(db, accountId, { ...filter, limit, follow })
  return (await selectScoped<EventRow>(db, accountId, query)).map(toPlaced)
}

/** `horizon`: all events before it have been read, including the last event of a full page. */
export type EventPage = { events: PlacedEvent[]; horizon: EventPosition; isFull: boolean }

/** Events as in `readEvents`, after a position, and the position up to which the log has been read. */
export async function readPage(
  db: Db,
  accountId: string,
  { after, ...slice }: EventFilter & { after: EventPosition; limit: number },
): Promise<EventPage> {
  const place = [after.xact.toString(), after.id.toString()]
  const follow = (part: Knex.QueryBuilder) => {
    void part.whereRaw('(e.xact, e.id) > (?::xid8, ?)', place)
  }
  const query = selectEvents(db, accountId, { ...slice, follow })
  const { rows } = await db.raw<{ rows: PageRow[] }>(
    `with scope as materialized (select set_config('app.account', ?, true) as account, ${HORIZON})
     select scope.horizon, q.* from scope left join lateral
       (select x.* from (?) x where scope.account = ? offset 0) q on true`,
    [accountId, query, accountId],
  )
  return toPage(rows, { after, limit: slice.limit })
}

export const HORIZON = '(select event_horizon()) as horizon'
type Horizon = { horizon: string }
/** An event, or none; and the horizon. */
export type PageRow = Horizon & { [K in keyof EventRow]: EventRow[K] | null }

/**
 * Converts rows to a page. A row without an event contains the horizon only. The horizon never goes back: a later query
 * may report an earlier one when the database of an ended transaction is unknown.
 */
export function toPage(
  rows: PageRow[],
  { after, limit }: { after: EventPosition; limit: number },
): EventPage {
  const events = rows.flatMap((row) => (row.id === null ? [] : [toPlaced(row as EventRow)]))
  const isFull = events.length >= limit
  const last = events.at(-1)
  const reported = { xact: BigInt(rows[0]?.horizon ?? '0'), id: 0n }
  const horizon = isBefore(reported, after) ? after : reported
  return { events, isFull, horizon: isFull && last ? last : horizon }
}

const toPlaced = ({ xact, ...row }: EventRow): PlacedEvent => ({ ...row, xact: BigInt(xact) })

/** `limit` is part of the SQL text, so that the generic plan of the statement knows how few rows are read. */
type EventSelection = EventFilter & { limit: number }

/**
 * Events that match a filter, in log order. Several types are read separately, each from its index: rare types would
 * otherwise be searched among all events of the account.
 *
 * `follow` restricts the query to events after a position.
 */
function selectEvents(
  db: Db,
  accountId: string,
  {
    limit,
    types,
    follow,
    ...filter
  }: EventSelection & { follow: (part: Knex.QueryBuilder) => void },
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

function partOf(
  db: Db,
  accountId: string,
  { limit, intentId, walletId }: EventSelection,
): Knex.QueryBuilder {
  const query = db('intent_event as e')
    .where('e.account_id', accountId)
    .whereRaw(BEFORE_HORIZON)
    .orderBy(['e.xact', 'e.id'])
    .limit(limit)
    .select(columns)
  if (intentId !== undefined) void query.where('e.intent_id', intentId)
  if (walletId !== undefined) void query.where('e.wallet_id', walletId)
  return query
}

/** The position of an event of the account. Undefined when the account has no event with this id. */
export async function findPosition(
  db: Db,
  accountId: string,
  id: bigint,
): Promise<EventPosition | undefined> {
  const query = db('intent_event as e').where({ account_id: accountId, id: id.toString() })
  const [row] = await selectScoped<EventRow>(db, accountId, query.select('xact', 'id'))
  return row && toPlaced(row)
}

/** The position of the account's last event, or the beginning. */
export async function readLastPosition(db: Db, accountId: string): Promise<EventPosition> {
  const query = db('intent_event as e')
    .where('e.account_id', accountId)
    .whereRaw(BEFORE_HORIZON)
    .orderBy([
      { column: 'e.xact', order: 'desc' },
      { column: 'e.id', order: 'desc' },
    ])
    .limit(1)
    .select('e.xact', 'e.id')
  const [row] = await selectScoped<EventRow>(db, accountId, query)
  return row ? toPlaced(row) : BEGINNING
}

/** True when the intent had no more events to come at this position. */
export async function wasSettled(
  db: Db,
  accountId: string,
  { intentId, at }: { intentId: string; at: EventPosition },
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
  const [row] = await selectScoped<EventRow>(db, accountId, query)
  return row !== undefined && settles(row) === true
}

/** Events up to the number `id`, and events before the time `before`, may be deleted. */
export type EventFloor = { id: bigint; before: Date | null }

export async function readEventFloor(db: Db): Promise<EventFloor> {
  return db('event_floor').first<EventFloor>('id', 'before')
}

/** Number of monthly partitions created in advance. */
const MONTHS_AHEAD = 2

/**
 * Creates and drops partitions of events.
 *
 * @param keptDays - At least 31: webhook deliveries can be repeated for a month.
 */
export const keepEvents = (db: Db, keptDays: number) =>
  keepPartitions(db, { table: 'intent_event', unit: 'month', ahead: MONTHS_AHEAD, keptDays })

/** The current event horizon. */
export async function readHorizon(db: Db): Promise<EventPosition> {
  const { rows } = await db.raw<{ rows: [Horizon] }>(`select ${HORIZON}`)
  return { xact: BigInt(rows[0].horizon), id: 0n }
}
