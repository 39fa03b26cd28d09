import { idFloor } from '../connection/ids.js'
import { selectScoped } from '../connection/scope.js'
import { CLOCKS_APART_MS, DAY_MS } from '../../durations.js'
import type { Db } from '../connection/connect.js'

/** The newest requests that are counted one by one. Beyond them the count begins later. */
const COUNTED = 50_000

export type Counted = { since: Date; requests: number; errors: number }

/** Requests of the last 24 hours; of a very busy account the newest ones only, since `since`. */
export async function countRecent(db: Db, accountId: string): Promise<Counted> {
  const since = new Date(Date.now() - DAY_MS)
  const recent = db('request_log')
    .where({ account_id: accountId })
    // Hidden from the planner: it would plan anew each time, for more than the count takes.
    .whereRaw('id >= (select ?::text)', [idFloor('req_', since)])
    // Partitions that ended before have none of them.
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

/** Requests of the last seven days in UTC, today's included. */
export async function countWeek(db: Db, accountId: string): Promise<Counted> {
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

/** Base units that lie in a market, as far as they were put there through us: without what they have earned. */
export type Lent = { chainId: number; market: string; units: bigint }

/** Deposits less withdrawals of an account. A market of which more was taken out than was put in has none left. */
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

/** How many intents of today (UTC) have each status. */
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

/** What a new account has done of what there is to do first. */
export type FirstSteps = {
  keyUsed: boolean
  walletMade: boolean
  /** Test money has come, or an intent has found money. */
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

/** Credits of this month in UTC, without bought ones: what the account is given, and what is left of it. */
export type Month = { given: number; left: number; endsAt: Date }

export async function readMonth(db: Db, accountId: string): Promise<Month> {
  const now = new Date()
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const query = db('account')
    .where({ id: accountId })
    .select('monthly_credits as given', 'granted as left', 'period')
  type Row = { given: bigint; left: bigint; period: number }
  const [row] = await selectScoped<Row>(db, accountId, query)
  // A month is granted with its first call: until then the row tells of an earlier one.
  const isGranted = row?.period === year * 100 + month + 1
  const given = Number(row?.given ?? 0n)
  const left = isGranted ? Number(row.left) : given
  return { given, left, endsAt: new Date(Date.UTC(year, month + 1)) }
}
