import { arrayText } from '../client/arrays.js'
import { keepPartitions } from '../client/partitions.js'
import { runPrepared } from '../client/prepared.js'
import type { Db } from '../client/connect.js'

/** An entry of the request log. Its only text of the caller is that of its refusal. */
export type RequestEntry = {
  id: string
  at: Date
  accountId: string
  /** SHA-256 of its API key, in base64. Undefined for a request by session. */
  keyDigest: string | undefined
  /** The signed-in user. Undefined for a request by API key. */
  userId: string | undefined
  method: string
  /** The route pattern, such as `/v1/intents/:intentId`. */
  path: string
  walletId: string | undefined
  /** The intent, funding, key or webhook of the request. */
  resourceId: string | undefined
  status: number
  /** Error code of the response. */
  code: string | undefined
  /** JSON of the error's message and fields, without secrets. */
  refusal: string | undefined
  credits: number
  ms: number
}

type EntryColumn = (entry: RequestEntry) => string | number | undefined
/** Columns that many requests of a batch share, in the order of the parameters. */
const callColumns: EntryColumn[] = [
  ({ accountId }) => accountId,
  ({ keyDigest }) => keyDigest,
  ({ userId }) => userId,
  ({ method }) => method,
  ({ path }) => path,
]
const ownColumns: EntryColumn[] = [
  ({ id }) => id,
  ({ at }) => at.getTime(),
  ({ walletId }) => walletId,
  ({ resourceId }) => resourceId,
  ({ status }) => status,
  ({ code }) => code,
  ({ credits }) => credits,
  ({ ms }) => ms,
  ({ refusal }) => refusal,
]
const parameters = [...callColumns, 'the call of each', ...ownColumns].map((_, at) => `$${at + 1}`)
const statement = {
  name: 'record requests',
  text: `select record_requests(${parameters.join(', ')})`,
}

/**
 * Stores requests and adds them to their daily sums, all or nothing. Idempotent: a caller that missed the confirmation
 * sends the same batch again.
 */
export async function recordRequests(db: Db, entries: RequestEntry[]): Promise<void> {
  const { calls, places } = gatherCalls(entries)
  const values = [
    ...callColumns.map((valueOf) => arrayText(calls.map(valueOf))),
    arrayText(places),
    ...ownColumns.map((valueOf) => arrayText(entries.map(valueOf))),
  ]
  try {
    await runPrepared(db, statement, values)
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error
  }
}

/** The distinct calls among the entries, and the 1-based index of each entry's call. */
function gatherCalls(entries: RequestEntry[]): { calls: RequestEntry[]; places: number[] } {
  const calls: RequestEntry[] = []
  const placeOf = new Map<string, number>()
  const places = entries.map((entry) => {
    const { accountId, keyDigest, userId, method, path } = entry
    const call = `${accountId} ${keyDigest ?? ''} ${userId ?? ''} ${method} ${path}`
    const place = placeOf.get(call) ?? calls.push(entry)
    placeOf.set(call, place)
    return place
  })
  return { calls, places }
}

const UNIQUE_VIOLATION = '23505'

/** Days for which requests are kept, besides today. */
export const KEPT_DAYS = 30
/** Number of daily partitions created in advance. */
const DAYS_AHEAD = 3

export const keepRequestPartitions = (db: Db) =>
  keepPartitions(db, { table: 'request_log', unit: 'day', ahead: DAYS_AHEAD, keptDays: KEPT_DAYS })

/** Days for which sums are kept, besides today: thirteen months, so that a month can be compared with the year before. */
const SUMMED_DAYS = 400

/**
 * Deletes at most `limit` expired daily sums.
 *
 * @returns How many were deleted. Less than `limit` when none is left.
 */
export async function pruneRequestDays(db: Db, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `delete from request_day where (account_id, day, caller_id, endpoint) in (
       select account_id, day, caller_id, endpoint from request_day
       -- Parameters in subqueries, so that the generic plan is reused.
       where day < (statement_timestamp() at time zone 'UTC')::date - (select cast(? as int))
       order by day limit (select cast(? as bigint)))`,
    [SUMMED_DAYS, limit],
  )
  return rowCount
}
