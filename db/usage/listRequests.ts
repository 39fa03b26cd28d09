import { CLOCKS_APART_MS, DAY_MS } from '../../runtime/durations.js'
import { timesOf } from '../client/ids.js'
import { selectScoped } from '../client/scope.js'
import { sliced, type Slice } from '../client/slice.js'
import { KEPT_DAYS } from './requests.js'
import type { Knex } from 'knex'
import type { Db } from '../client/connect.js'

export type RequestRow = {
  id: string
  at: Date
  /** Id of an API key or a user. */
  callerId: string
  method: string
  path: string
  walletId: string | null
  resourceId: string | null
  status: number
  code: string | null
  credits: number
  ms: number
  /** The message and the refused fields of an error, redacted. */
  refusal: RefusalRow | null
  /** The API key of the caller. Null for a member. */
  key: { name: string; prefix: string; lastFour: string } | null
}

type RefusalRow = {
  message: string
  issues?: { path: string; message: string; value?: string }[]
  idempotencyKey?: string
}

const requestColumns = [
  'id',
  'at',
  'caller_id as callerId',
  'method',
  'path',
  'wallet_id as walletId',
  'resource_id as resourceId',
  'status',
  'code',
  'credits',
  'ms',
  'refusal',
]
const KEY = `(select json_build_object('name', k.name, 'prefix', k.prefix, 'lastFour', k.last_four)
  from api_key k where k.id = request_log.caller_id) as key`

/** Filter of an account's requests. Undefined fields do not restrict. */
export type RequestFilter = {
  method?: string | undefined
  path?: string | undefined
  /** Lowest and highest status. */
  status?: readonly [number, number] | undefined
  code?: string | undefined
  callerId?: string | undefined
  /** Beginning of the request id. */
  idPrefix?: string | undefined
  walletId?: string | undefined
  resourceId?: string | undefined
}

/** Time range that is searched first: the first page of an active account is in few partitions. */
const FIRST_LOOK_MS = 2 * DAY_MS

/** The requests of a page, newest first, plus one. */
export async function listRequests(
  db: Db,
  accountId: string,
  { slice, ...filter }: RequestFilter & { slice: Slice },
): Promise<RequestRow[]> {
  const looks = await looksFor(db, accountId, { slice, ...filter })
  let found: RequestRow[] = []
  for (const part of looks) {
    const query = sliced(db('request_log').where({ account_id: accountId }), 'id', slice)
    restrictRequests(query, filter)
    within(db, query, part)
    found = await selectScoped<RequestRow>(
      db,
      accountId,
      query.select(...requestColumns, db.raw(KEY)),
    )
    if (found.length > slice.limit) break
  }
  return found
}

/**
 * Time ranges to search until the page is full: the latest part, which is in few partitions, then everything. Planning
 * for a partition takes longer than searching an empty one.
 */
async function looksFor(
  db: Db,
  accountId: string,
  { slice, ...filter }: RequestFilter & { slice: Slice },
): Promise<Span[]> {
  const span = spanOf(slice, filter.idPrefix)
  if (!filter.path && !filter.callerId) {
    const from = (span.to ?? Date.now()) - FIRST_LOOK_MS
    return span.from !== undefined && span.from >= from ? [span] : [{ ...span, from }, span]
  }
  const days = await findDays(db, accountId, { ...filter, ...span })
  const [newest, oldest] = [days[0], days.at(-1)]
  if (!newest || !oldest) return []
  const to = Math.min(span.to ?? Infinity, newest.from + DAY_MS)
  let count = 0
  const enough = days.find((one) => (count += one.count) > slice.limit) ?? oldest
  return [...new Set([enough.from, oldest.from])].map((from) => {
    return { from: Math.max(from, span.from ?? 0), to }
  })
}

/** A day in UTC: its start (Unix ms) and its number of requests. */
type RequestDay = { from: number; count: number }

/** Days with requests of a path, of a caller, or of both, newest first, from the daily sums. */
async function findDays(
  db: Db,
  accountId: string,
  { method, path, callerId, from = 0, to }: RequestFilter & Span,
): Promise<RequestDay[]> {
  const first = Math.max(from, Date.now() - (KEPT_DAYS + 1) * DAY_MS) - CLOCKS_APART_MS
  const query = db('request_day')
    .where({ account_id: accountId, ...(callerId && { caller_id: callerId }) })
    .where('day', '>=', dayOf(first))
    .groupBy('day')
    .orderBy('day', 'desc')
    .select(db.raw('day::text'), db.raw('sum(requests)::int8 as count'))
  if (path) void query.whereRaw("substr(endpoint, strpos(endpoint, ' ') + 1) = ?", [path])
  if (path && method) void query.where('endpoint', `${method} ${path}`)
  if (to !== undefined) void query.where('day', '<=', dayOf(to + CLOCKS_APART_MS))
  const rows = await selectScoped<{ day: string; count: bigint }>(db, accountId, query)
  return rows.map(({ day, count }) => ({ from: Date.parse(day), count: Number(count) }))
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Range of request times (Unix ms), inclusive. Undefined: unbounded. */
type Span = { from?: number; to?: number }

/** The time range of the requests that a page may contain, from their ids. */
function spanOf({ before }: Slice, idPrefix?: string): Span {
  const [from, last = Infinity] = idPrefix === undefined ? [] : timesOf('req_', idPrefix)
  const to = Math.min(last, before === undefined ? Infinity : timesOf('req_', before)[1])
  return { ...(from !== undefined && { from }), ...(to < Infinity && { to }) }
}

/** Restricts a query to a time range, and to the partitions that may contain it. */
function within(db: Db, query: Knex.QueryBuilder, { from, to }: Span): void {
  const at = (ms: number) => db.raw('to_timestamp(?::float8)', [ms / 1_000])
  if (from !== undefined) void query.where('at', '>=', at(from - CLOCKS_APART_MS))
  if (to !== undefined) void query.where('at', '<=', at(to + CLOCKS_APART_MS))
}

function restrictRequests(query: Knex.QueryBuilder, filter: RequestFilter): void {
  const { method, path, status, code, callerId, idPrefix, walletId, resourceId } = filter
  const equals = {
    ...(method && { method }),
    ...(path && { path }),
    ...(code && { code }),
    ...(callerId && { caller_id: callerId }),
    ...(walletId && { wallet_id: walletId }),
    ...(resourceId && { resource_id: resourceId }),
  }
  void query.where(equals)
  if (status) void query.whereBetween('status', [...status])
  // Only errors have a code. A literal instead of a parameter, so that the generic plan uses the index of errors.
  if (code || (status && status[0] >= 400)) void query.whereRaw('status >= 400')
  // The brace sorts after `z`, the last letter of ids.
  if (idPrefix) void query.where('id', '>=', idPrefix).where('id', '<', `${idPrefix}{`)
}
