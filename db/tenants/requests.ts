import { arrayText } from '../connection/arrays.js'
import { keepPartitions } from '../connection/partitions.js'
import { runPrepared } from '../connection/prepared.js'
import type { Db } from '../connection/connect.js'

/** A request as it is kept. Nothing of it is a caller's text: no body, no query, no header. */
export type RequestEntry = {
  id: string
  at: Date
  accountId: string
  /** SHA-256 of its key, in base64; undefined for one by session. */
  keyDigest: string | undefined
  /** Who was signed in; undefined for one by key. */
  userId: string | undefined
  method: string
  /** The pattern of its route, such as `/v1/intents/:intentId`. */
  path: string
  walletId: string | undefined
  /** The intent, funding, key or webhook that it was about. */
  resourceId: string | undefined
  status: number
  /** Of the error that answered it. */
  code: string | undefined
  credits: number
  ms: number
}

type Column = (entry: RequestEntry) => string | number | undefined
/** Who called what: the columns that many requests of a batch have alike, in the order of the parameters. */
const callColumns: Column[] = [
  ({ accountId }) => accountId,
  ({ keyDigest }) => keyDigest,
  ({ userId }) => userId,
  ({ method }) => method,
  ({ path }) => path,
]
const ownColumns: Column[] = [
  ({ id }) => id,
  ({ at }) => at.getTime(),
  ({ walletId }) => walletId,
  ({ resourceId }) => resourceId,
  ({ status }) => status,
  ({ code }) => code,
  ({ credits }) => credits,
  ({ ms }) => ms,
]
const parameters = [...callColumns, 'the call of each', ...ownColumns].map((_, at) => `$${at + 1}`)
const statement = {
  name: 'record requests',
  text: `select record_requests(${parameters.join(', ')})`,
}

/**
 * Keeps requests and adds them to the sums of their days, all or none. A batch that is kept already changes
 * nothing: whoever did not hear that it was sends it again as it was.
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

/** One of the entries for each call that is among them, and which of them each entry is, counted from 1. */
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
/** Days whose partitions are there before they begin: so long nobody need look after them. */
const DAYS_AHEAD = 3

export const keepRequestPartitions = (db: Db) =>
  keepPartitions(db, { table: 'request_log', unit: 'day', ahead: DAYS_AHEAD, keptDays: KEPT_DAYS })

/** Days for which sums are kept, besides today: thirteen months, so that a month stands beside that of a year ago. */
const SUMMED_DAYS = 400

/**
 * Deletes sums of days that are kept no longer, at most `limit` of them.
 *
 * @returns How many: less than `limit` when none is left.
 */
export async function pruneRequestDays(db: Db, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `delete from request_day where (account_id, day, caller_id, endpoint) in (
       select account_id, day, caller_id, endpoint from request_day
       -- By values that the planner does not know: it would plan anew each time.
       where day < (statement_timestamp() at time zone 'UTC')::date - (select cast(? as int))
       order by day limit (select cast(? as bigint)))`,
    [SUMMED_DAYS, limit],
  )
  return rowCount
}
