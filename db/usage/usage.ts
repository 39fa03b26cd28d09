import { selectScoped } from '../client/scope.js'
import { sliced, type Slice } from '../client/slice.js'
import { restrictIntents, type IntentFilter } from '../intents/listIntents.js'
import type { Db } from '../client/connect.js'

/** Range of days in UTC, such as `2026-11-22`, inclusive. */
export type Days = { from: string; to: string }

type Sums = { requests: number; errors: number; credits: number }
export type EndpointUsage = Sums & { day: string; endpoint: string }
export type DayUse = Sums & { day: string }

type SumRow<Named> = Named & Record<keyof Sums, string>

const SUMS = `sum(requests) as requests, sum(errors) as errors, sum(credits) as credits`

function withNumbers<Named>({ requests, errors, credits, ...named }: SumRow<Named>) {
  const sums = { requests: Number(requests), errors: Number(errors), credits: Number(credits) }
  return { ...named, ...sums }
}

const daysOf = (db: Db, accountId: string, { from, to }: Days) =>
  db('request_day').where({ account_id: accountId }).whereBetween('day', [from, to])

/** Requests, errors and credits of an account by day and endpoint, oldest first. Days without requests are absent. */
export async function readUsageDays(
  db: Db,
  accountId: string,
  days: Days,
): Promise<EndpointUsage[]> {
  const query = daysOf(db, accountId, days)
    .groupBy('day', 'endpoint')
    .orderBy(['day', 'endpoint'])
    .select(db.raw(`day::text as day, endpoint, ${SUMS}`))
  const rows = await selectScoped<SumRow<{ day: string; endpoint: string }>>(db, accountId, query)
  return rows.map((row) => withNumbers(row))
}

/** Requests of a key by day, oldest first. */
export async function readKeyUse(
  db: Db,
  accountId: string,
  { keyId, ...days }: Days & { keyId: string },
): Promise<DayUse[]> {
  const query = daysOf(db, accountId, days)
    .where({ caller_id: keyId })
    .groupBy('day')
    .orderBy('day')
    .select(db.raw(`day::text as day, ${SUMS}`))
  const rows = await selectScoped<SumRow<{ day: string }>>(db, accountId, query)
  return rows.map((row) => withNumbers(row))
}

/** True when an account has or had a key with this id. */
export async function hasKey(db: Db, accountId: string, id: string): Promise<boolean> {
  const query = db('api_key').where({ account_id: accountId, id }).select('id')
  return (await selectScoped(db, accountId, query)).length > 0
}

export type LedgerRow = {
  id: string
  at: Date
  /** `charge:POST /intents`, `grant:202611`, `lapse:202610`, `refund` or `purchase`. */
  reason: string
  delta: bigint
  requestId: string
}

/** Entries of the credit ledger, newest first: the slice plus one. */
export async function listLedger(db: Db, accountId: string, slice: Slice): Promise<LedgerRow[]> {
  const query = sliced(db('ledger').where({ account_id: accountId }), 'id', slice).select(
    ...['id', 'created_at as at', 'reason', 'delta', 'request_id as requestId'],
  )
  const rows = await selectScoped<Omit<LedgerRow, 'id'> & { id: bigint }>(db, accountId, query)
  return rows.map((row) => ({ ...row, id: String(row.id) }))
}

/** As long as daily sums are kept. Older charges are not refunded. */
const LISTED_DAYS = 400

/**
 * Sums old charges and refunds per account, month and reason, at most `limit` entries per call.
 *
 * @returns How many entries were summed. Less than `limit` when none is left.
 */
export async function sumLedger(db: Db, limit: number): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ summed: number }] }>(
    'select sum_ledger(?, ?) as summed',
    [LISTED_DAYS, limit],
  )
  return rows[0].summed
}

export type IntentLine = {
  id: string
  createdAt: Date
  completedAt: Date | null
  userId: string
  walletId: string
  action: string
  asset: string
  units: string
  fromChain: string | null
  chain: string | null
  status: string
  code: string | null
  retryOf: string | null
  requestId: string
}

/** Rows of the dashboard's table of intents, newest first: the slice plus one. */
export async function listIntentLines(
  db: Db,
  accountId: string,
  { slice, ...filter }: IntentFilter & { slice: Slice },
): Promise<IntentLine[]> {
  const query = sliced(
    db('intent as i').join('wallet as w', 'w.id', 'i.wallet_id').where('i.account_id', accountId),
    'i.id',
    slice,
  ).select(
    ...['i.id', 'i.created_at as createdAt', 'i.completed_at as completedAt'],
    ...['w.user_id as userId', 'i.wallet_id as walletId', 'i.action', 'i.asset', 'i.units'],
    ...['i.from_chain as fromChain', 'i.chain', 'i.status', 'i.retry_of as retryOf'],
    'i.request_id as requestId',
    db.raw(`i.error ->> 'code' as code`),
  )
  restrictIntents(query, accountId, filter)
  return selectScoped<IntentLine>(db, accountId, query)
}
