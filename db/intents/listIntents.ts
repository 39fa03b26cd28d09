import { CLOCKS_APART_MS } from '../../runtime/durations.js'
import { firstIdAt } from '../client/ids.js'
import { selectScoped } from '../client/scope.js'
import { sliced, type Slice } from '../client/slice.js'
import { withTimeline, type StoredIntent, type IntentRow } from './intents.js'
import { toTimeline, type IntentTimeline } from './timeline.js'
import type { Knex } from 'knex'
import type { Db } from '../client/connect.js'
import type { FailureCode } from '../../domain/intent/failures.js'
import type { IntentAction, LifecycleStatus } from '../../domain/intent/intent.js'

/** Filter of intents. Undefined fields do not restrict. Both times are exclusive. */
export type IntentFilter = {
  walletId: string | undefined
  /** The user of the wallet. */
  userId?: string | undefined
  errorCode?: FailureCode | undefined
  statuses: LifecycleStatus[] | undefined
  action: IntentAction | undefined
  createdAfter: Date | undefined
  createdBefore: Date | undefined
}

/** Intents of the account with their timelines, newest first: the slice plus one. */
export async function listIntents(
  db: Db,
  accountId: string,
  { slice, ...filter }: IntentFilter & { slice: Slice },
): Promise<(StoredIntent & { timeline: IntentTimeline })[]> {
  const query = sliced(withTimeline(db, accountId), 'i.id', slice)
  restrictIntents(query, accountId, filter)
  const rows = await selectScoped<IntentRow>(db, accountId, query)
  return rows.map(({ timeline, ...row }) => ({ ...row, timeline: toTimeline(timeline) }))
}

/** Restricts a query of intents, named `i`, to those that match a filter. */
export function restrictIntents(
  query: Knex.QueryBuilder,
  accountId: string,
  { walletId, userId, statuses, action, errorCode, ...span }: IntentFilter,
): void {
  // A scalar subquery, so that the index on wallets serves it: a user has at most one wallet.
  const ofUser =
    'i.wallet_id = (select w.id from wallet w where w.account_id = ? and w.user_id = ?)'
  if (userId) void query.whereRaw(ofUser, [accountId, userId])
  if (errorCode) void query.whereNotNull('i.error').whereRaw(`i.error ->> 'code' = ?`, [errorCode])
  if (walletId) void query.where('i.wallet_id', walletId)
  if (statuses) void query.whereIn('i.status', statuses)
  if (action) void query.where('i.action', action)
  within(query, span)
}

/**
 * Filters by time, and by ids for the index. Ids come from other clocks, so they get a tolerance.
 */
function within(
  query: Knex.QueryBuilder,
  { createdAfter, createdBefore }: Pick<IntentFilter, 'createdAfter' | 'createdBefore'>,
): void {
  const idAt = (time: Date, apartMs: number) => firstIdAt('intent_', time.getTime() + apartMs)
  if (createdAfter) {
    void query
      .where('i.created_at', '>', createdAfter)
      .where('i.id', '>=', idAt(createdAfter, -CLOCKS_APART_MS))
  }
  if (createdBefore) {
    void query
      .where('i.created_at', '<', createdBefore)
      .where('i.id', '<', idAt(createdBefore, CLOCKS_APART_MS))
  }
}
