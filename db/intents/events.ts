import { selectScoped } from '../connection/scope.js'
import type { Db } from '../connection/connect.js'
import type { IntentEvent } from '../../domain/events.js'

/** A part of the story: at most `limit` events that follow the one whose id is `after`, of all intents or one. */
export type EventSlice = { after?: bigint; limit: number; intentId?: string }

/**
 * Events of the account, oldest first. Whoever goes on after the last one he has read misses none and reads
 * none twice: an event is told once no transaction runs that could still put another one before it. So a
 * transaction that takes long holds the news back, for the seconds that one may last. After an id that the
 * account does not have nothing follows.
 */
export async function readEvents(
  db: Db,
  accountId: string,
  { after, limit, intentId }: EventSlice,
): Promise<IntentEvent[]> {
  const query = db('intent_event as e')
    .where('e.account_id', accountId)
    .whereRaw('e.xact < pg_snapshot_xmin(pg_current_snapshot())')
    .orderBy(['e.xact', 'e.id'])
    .limit(limit)
    .select('e.id', 'e.intent_id as intentId', 'e.type', 'e.data', 'e.at')
  if (intentId !== undefined) void query.where('e.intent_id', intentId)
  if (after !== undefined) {
    const cursor = db('intent_event').where({ account_id: accountId, id: after.toString() })
    void query.whereRaw('(e.xact, e.id) > (?)', [cursor.select('xact', 'id')])
  }
  return selectScoped<IntentEvent>(db, accountId, query)
}
