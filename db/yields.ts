import { sliced, type Slice } from './client/slice.js'
import type { Db } from './client/connect.js'
import type { Rate } from '../domain/yields.js'

/** A rate at a time. `apyPercent` is decimal text with at most four decimals. */
export type StoredRate = {
  id: string
  chain: string
  protocol: string
  asset: string
  apyPercent: string
  takenAt: Date
}

/** Stores the rates of a time. Existing rows of the same time are kept. */
export async function insertYields(db: Db, rates: Rate[], takenAt: Date): Promise<void> {
  if (rates.length === 0) return
  const rows = rates.map(({ chain, protocol, asset, market, apyPercent }) => ({
    chain,
    protocol,
    asset,
    market,
    apy_percent: apyPercent,
    taken_at: takenAt,
  }))
  await db('yield_snapshot').insert(rows).onConflict().ignore()
}

export type YieldFilter = {
  chain: string | undefined
  protocol: string | undefined
  asset: string | undefined
  /** Inclusive. */
  from: Date | undefined
  /** Exclusive. */
  to: Date | undefined
}

/** Stored rates, newest first: the slice plus one. No account owns them. */
export async function listYields(
  db: Db,
  { chain, protocol, asset, from, to }: YieldFilter,
  slice: Slice,
): Promise<StoredRate[]> {
  const query = sliced(db('yield_snapshot'), 'id', slice)
  for (const [column, value] of Object.entries({ chain, protocol, asset })) {
    if (value !== undefined) void query.where(column, value)
  }
  if (from) void query.where('taken_at', '>=', from)
  if (to) void query.where('taken_at', '<', to)
  const rows = await query.select<(Omit<StoredRate, 'id'> & { id: bigint })[]>(
    'id',
    'chain',
    'protocol',
    'asset',
    'apy_percent as apyPercent',
    'taken_at as takenAt',
  )
  return rows.map((row) => ({ ...row, id: row.id.toString() }))
}

/** The average rate of a market from `at` until the next point. */
export type YieldPoint = Pick<StoredRate, 'chain' | 'protocol' | 'asset' | 'apyPercent'> & {
  at: Date
}

/**
 * Rates of each market since a time, oldest first: every six hours in more than eight days, every five minutes while all
 * data is younger than a day, else hourly. Gaps in the data have no points.
 */
export async function readYieldPoints(db: Db, from: Date): Promise<YieldPoint[]> {
  const { rows } = await db.raw<{ rows: YieldPoint[] }>(
    `with known as (select * from yield_snapshot where taken_at >= ?),
       step as (select case when min(taken_at) > now() - interval '1 day' then interval '5 minutes'
         when min(taken_at) < now() - interval '8 days' then interval '6 hours' else interval '1 hour' end as wide from known)
     select chain, protocol, asset, date_bin(wide, taken_at, timestamptz 'epoch') as at,
       round(avg(apy_percent), 4)::text as "apyPercent"
     from known cross join step group by 1, 2, 3, 4 order by 4, 1, 2, 3`,
    [from],
  )
  return rows
}
