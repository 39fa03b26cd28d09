import type { Db } from './connect.js'

type Partitioned = {
  table: 'intent_event' | 'request_log'
  /** Time range of a partition. */
  unit: 'day' | 'month'
  /** Number of partitions created in advance. */
  ahead: number
  /** Days for which a partition is kept after its time range. */
  keptDays: number
}

/**
 * Creates the coming partitions of a table and drops expired ones.
 *
 * @returns How many were created and dropped.
 */
export async function keepPartitions(
  db: Db,
  { table, unit, ahead, keptDays }: Partitioned,
): Promise<{ made: number; dropped: number }> {
  const create = 'select create_partitions(?, ?, ?) as count'
  const drop = 'select drop_partitions(?, ?) as count'
  const made = await db.raw<CountResult>(create, [table, unit, ahead])
  const dropped = await db.raw<CountResult>(drop, [table, keptDays])
  return { made: made.rows[0].count, dropped: dropped.rows[0].count }
}

type CountResult = { rows: [{ count: number }] }
