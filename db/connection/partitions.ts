import type { Db } from './connect.js'

type Partitioned = {
  table: 'intent_event' | 'request_log'
  /** What a partition spans. */
  unit: 'day' | 'month'
  /** Partitions that are there before their time begins. */
  ahead: number
  /** Days for which a partition is kept after its time. */
  keptDays: number
}

/**
 * Creates the coming partitions of a table and drops those that ended long ago.
 *
 * @returns How many were made and dropped.
 */
export async function keepPartitions(
  db: Db,
  { table, unit, ahead, keptDays }: Partitioned,
): Promise<{ made: number; dropped: number }> {
  const create = 'select create_partitions(?, ?, ?) as count'
  const drop = 'select drop_partitions(?, ?) as count'
  const made = await db.raw<Counted>(create, [table, unit, ahead])
  const dropped = await db.raw<Counted>(drop, [table, keptDays])
  return { made: made.rows[0].count, dropped: dropped.rows[0].count }
}

type Counted = { rows: [{ count: number }] }
