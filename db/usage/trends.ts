import { selectScoped } from '../client/scope.js'
import type { Db } from '../client/connect.js'

/** Sums of the intents and operations that ended in a time. Cancelled intents are left out. */
export type TrendSums = {
  /** Base units of the completed intents. Every asset is a dollar token. */
  units: string
  completed: number
  failed: number
  /** Half of the completed intents took at most this long from their creation. Null without one. */
  p50Ms: number | null
  /** Known cost of the operations in USD, without test money. */
  gasUsd: string
}
export type TrendPoint = TrendSums & { at: Date }

/**
 * A range of whole units up to now. `from` is the start of a unit in UTC. `most`: the newest intents, and the newest
 * operations, that are summed.
 */
export type TrendRange = { from: Date; to: Date; unitMs: number; units: number; most: number }

export type Trends = {
  current: TrendSums
  /** The range before, as long as the current one up to now. Null when a range has more rows than are summed. */
  previous: TrendSums | null
  /** The units of the current range that have rows, oldest first. */
  points: TrendPoint[]
  /** The start of the range, or later when it has more rows than are summed. */
  since: Date
}

const NONE: TrendSums = { units: '0', completed: 0, failed: 0, p50Ms: null, gasUsd: '0' }

export async function readTrends(
  db: Db,
  accountId: string,
  { from, to, unitMs, units, most }: TrendRange,
): Promise<Trends> {
  const length = unitMs * units
  const before = { before: new Date(+from - length), until: new Date(+to - length) }
  const query = db
    .select('*')
    .from(db.raw(`(${SUMS}) as summed`, { accountId, from, to, unitMs, most, ...before }))
  const rows = await selectScoped<SumRow>(db, accountId, query)
  const sumOf = (part: Part) => rows.find((row) => row.part === part && row.at === null)
  const isCut = (row: SumRow | undefined) => row !== undefined && row.counted >= most
  const [now, then] = [sumOf('current'), sumOf('previous')]
  const points = rows.flatMap(({ at, ...row }) => (at ? [{ at, ...sumsOf(row) }] : []))
  return {
    current: sumsOf(now),
    previous: isCut(now) || isCut(then) ? null : sumsOf(then),
    points: points.sort((one, other) => +one.at - +other.at),
    since: now && isCut(now) ? now.oldest : from,
  }
}

type Part = 'current' | 'previous'

/**
 * The sums of a range where `at` is null, else of one of its units. `counted`: rows of the larger table. `oldest`: from
 * this time on, both tables are summed.
 */
type SumRow = TrendSums & { part: Part; at: Date | null; counted: number; oldest: Date }

const sumsOf = ({ units, completed, failed, p50Ms, gasUsd }: TrendSums = NONE): TrendSums => ({
  ...{ units, completed, failed, p50Ms, gasUsd },
})

/** The newest rows of a part. The index of each table on account and end returns them in this order. */
const newest = (part: Part, [after, until]: [string, string]) => `
  (select '${part}' as part, ended_at, status, units, ended_at - created_at as took, null::numeric as gas
    from intent where account_id = :accountId and ended_at >= ${after} and ended_at < ${until}
      and cancelled_at is null order by ended_at desc limit :most)
  union all
  (select '${part}', ended_at, null, null, null, gas_cost_usd
    from operation where account_id = :accountId and ended_at >= ${after} and ended_at < ${until}
      and gas_cost_usd is not null and kind <> 'fund' order by ended_at desc limit :most)`

const SUMS = `
  select part, at, greatest(count(status), count(gas))::int as counted,
    greatest(min(ended_at) filter (where status is not null), min(ended_at) filter (where gas is not null)) as oldest,
    coalesce(sum(units) filter (where status = 'completed'), 0)::text as units,
    count(*) filter (where status = 'completed')::int as completed,
    count(*) filter (where status = 'failed')::int as failed,
    (percentile_cont(0.5) within group (order by extract(epoch from took)::float8 * 1000)
      filter (where status = 'completed')) as "p50Ms",
    coalesce(sum(gas), 0)::text as "gasUsd"
  from (select *, case part when 'current'
      then date_bin(:unitMs * interval '1 millisecond', ended_at, :from::timestamptz) end as at
    from (${newest('current', [':from', ':to'])} union all ${newest('previous', [':before', ':until'])}) as newest
  ) as ended
  group by grouping sets ((part), (part, at))
  having grouping(at) = 1 or part = 'current'`
