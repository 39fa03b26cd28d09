import { selectScoped } from '../connection/scope.js'
import type { Db } from '../connection/connect.js'

/**
 * So many workflows of an account are started of which no step is ordered yet, while others shall not wait for it: for
 * a machine that orders thirty a second that is a backlog of a quarter of a second.
 */
export const MOST_UNORDERED = 8
/** What was started before has died with its worker, or waits for one: it is no reason for others to wait. */
export const UNORDERED_MS = 60_000

/** How many of the newest started intents of an account have no step ordered: `MOST_UNORDERED` at most. */
export async function countUnordered(db: Db, accountId: string): Promise<number> {
  const newest = db('intent')
    .where({ account_id: accountId, status: 'planning' })
    .whereNotNull('dispatched_at')
    .orderBy('id', 'desc')
    .limit(MOST_UNORDERED)
    .select('dispatched_at')
  const recent = db
    .from(newest.as('newest'))
    .whereRaw(`dispatched_at > clock_timestamp() - ? * interval '1 millisecond'`, [UNORDERED_MS])
    .count<{ count: bigint }[]>('* as count')
  const [row] = await selectScoped<{ count: bigint }>(db, accountId, recent)
  return Number(row?.count ?? 0)
}
