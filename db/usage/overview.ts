import { idFloor } from '../client/ids.js'
import { selectScoped } from '../client/scope.js'
import { CLOCKS_APART_MS, DAY_MS } from '../../runtime/durations.js'
import type { Db } from '../client/connect.js'

/** The most requests that are counted. Beyond it the count starts later. */
const COUNTED = 50_000

export type RequestCount = { since: Date; requests: number; errors: number }

/** Requests of the last 24 hours. For a very busy account only the newest, since `since`. */
export async function countRecent(db: Db, accountId: string): Promise<RequestCount> {
  const since = new Date(Date.now() - DAY_MS)
  const recent = db('request_log')
    .where({ account_id: accountId })
    // A parameter in a subquery, so that the generic plan is reused: planning takes longer than counting.
    .whereRaw('id >= (select ?::text)', [idFloor('req_', since)])
    // Older partitions contain none of them.
    .whereRaw('at >= (select ?::timestamptz)', [new Date(since.getTime() - CLOCKS_APART_MS)])
    .orderBy('id', 'desc')
    .limit(COUNTED)
    .select('at', 'status')
  const query = db(recent.as('r')).select(
    db.raw('count(*)::int as requests, count(*) filter (where status >= 400)::int as errors'),
    db.raw('min(at) as oldest'),
  )
  type Row = { requests: number; errors: number; oldest: Date | null }
  const [row] = await selectScoped<Row>(db, accountId, query)
  const { requests = 0, errors = 0, oldest = null } = row ?? {}
  return { since: requests < COUNTED || !oldest ? since : oldest, requests, errors }
}

/** Requests of the last seven days in UTC, including today. */
export async function countWeek(db: Db, accountId: string): Promise<RequestCount> {
  const today = new Date().setUTCHours(0, 0, 0, 0)
  const since = new Date(today - 6 * DAY_MS)
  const query = db('request_day')
    .where({ account_id: accountId })
    .where('day', '>=', since.toISOString().slice(0, 10))
    .select(db.raw('coalesce(sum(requests), 0)::int8 as requests'))
    .select(db.raw('coalesce(sum(errors), 0)::int8 as errors'))
  const [row] = await selectScoped<{ requests: bigint; errors: bigint }>(db, accountId, query)
  return { since, requests: Number(row?.requests ?? 0n), errors: Number(row?.errors ?? 0n) }
}

/** Base units deposited in a market through this service, without interest. */
export type Lent = { chainId: number; market: string; units: bigint }

/** Deposits minus withdrawals of an account per market. Zero where withdrawals exceed deposits. */
export async function sumLent(db: Db, accountId: string): Promise<Lent[]> {
  const columns = ['chain_id as chainId', 'resource', 'units']
  const final = db('account_lent').where({ account_id: accountId }).select(columns)
  const latest = db('operation')
    .where({ account_id: accountId, success: true })
    .whereIn('kind', ['deposit', 'withdraw'])
    .whereIn('state', ['mined', 'confirmed'])
    .select(columns)
  const query = db
    .from(final.unionAll([latest]).as('moved'))
    .groupBy('chainId', 'resource')
    .select('chainId', 'resource', db.raw('sum(units)::text as units'))
  type Row = { chainId: bigint; resource: string | null; units: string | null }
  const rows = await selectScoped<Row>(db, accountId, query)
  const lent = new Map<string, Lent>()
  for (const { chainId, resource, units } of rows) {
    const [kind, market = ''] = (resource ?? '').split(':')
    const key = `${chainId} ${market}`
    const sum = lent.get(key) ?? { chainId: Number(chainId), market, units: 0n }
    sum.units += BigInt(units ?? 0) * (kind === 'deposit' ? 1n : -1n)
    lent.set(key, sum)
  }
  return [...lent.values()].filter(({ units }) => units > 0n)
}

/** Number of today's intents (UTC) by status. */
export async function countToday(db: Db, accountId: string): Promise<Record<string, number>> {
  const today = new Date(new Date().setUTCHours(0, 0, 0, 0))
  const query = db('intent')
    .where({ account_id: accountId })
    .whereRaw('id >= (select ?::text)', [idFloor('intent_', today)])
    .groupBy('status')
    .select('status', db.raw('count(*)::int as count'))
  const rows = await selectScoped<{ status: string; count: number }>(db, accountId, query)
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}

/** Which first steps a new account has completed. */
export type FirstSteps = {
  keyUsed: boolean
  walletMade: boolean
  /** True when test money has arrived, or an intent had money. */
  moneyThere: boolean
  intentCompleted: boolean
}

export async function readFirstSteps(db: Db, accountId: string): Promise<FirstSteps> {
  const has = (table: string, condition: string) =>
    `exists (select from ${table} where account_id = a.id${condition})`
  const query = db('account as a')
    .where({ id: accountId })
    .select(
      db.raw(`${has('api_key', ' and last_used_at is not null')} as "keyUsed"`),
      db.raw(`${has('wallet', '')} as "walletMade"`),
      db.raw(`(${has('funding', ' and completed_at is not null')}
        or ${has('intent', ' and plan is not null')}) as "moneyThere"`),
      db.raw(`${has('intent', ` and status = 'completed'`)} as "intentCompleted"`),
    )
  const none = { keyUsed: false, walletMade: false, moneyThere: false, intentCompleted: false }
  const [row] = await selectScoped<FirstSteps>(db, accountId, query)
  return row ?? none
}

/** Monthly credits of this month (UTC), without purchased ones: granted and remaining. */
export type Month = { given: number; left: number; endsAt: Date }

export async function readMonth(db: Db, accountId: string): Promise<Month> {
  const now = new Date()
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const query = db('account')
    .where({ id: accountId })
    .select('monthly_credits as given', 'granted as left', 'period')
  type Row = { given: bigint; left: bigint; period: number }
  const [row] = await selectScoped<Row>(db, accountId, query)
  // Credits are granted with the first call of a month. Until then the row describes an earlier month.
  const isGranted = row?.period === year * 100 + month + 1
  const given = Number(row?.given ?? 0n)
  const left = isGranted ? Number(row.left) : given
  return { given, left, endsAt: new Date(Date.UTC(year, month + 1)) }
}
