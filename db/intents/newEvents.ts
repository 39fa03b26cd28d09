import { runPrepared, type Statement } from '../client/prepared.js'
import {
  HORIZON,
  BEFORE_HORIZON,
  toPage,
  type EventPage,
  type PageRow,
  type EventPosition,
} from './events.js'
import type { Db } from '../client/connect.js'

/** An account, and the position after which to read its events. */
export type EventQuery = { accountId: string; after: EventPosition }

/** `isHeld`: more events are committed, but a running transaction could still write an earlier one. */
export type NewEvents = EventPage & { isHeld: boolean }

/**
 * The next events of several accounts, in one statement. Row policies limit each to its own events.
 *
 * @returns In the order of `wanted`, at most `limit` events of each account.
 */
export async function readNewEvents(
  db: Db,
  wanted: EventQuery[],
  limit: number,
): Promise<NewEvents[]> {
  const rows = await runPrepared<NewEventRow>(db, newEventsStatement, [
    wanted.map(({ accountId }) => accountId),
    wanted.map(({ after }) => after.xact.toString()),
    wanted.map(({ after }) => after.id.toString()),
    limit,
  ])
  const parts = wanted.map((): NewEventRow[] => [])
  for (const row of rows) parts[Number(row.callAt) - 1]?.push(row)
  return wanted.map(({ after }, at) => {
    const part = parts[at] ?? []
    const visible = part.filter(({ isVisible }) => isVisible !== false)
    const isHeld = visible.length < part.length
    // When an event is held back, all visible events before it have been read.
    const shown = visible.length > 0 ? visible : part.map(withoutEvent)
    const page = toPage(shown, { after, limit: isHeld ? Infinity : limit })
    return { ...page, isHeld }
  })
}

type NewEventRow = PageRow & { callAt: bigint; isVisible: boolean | null }
const withoutEvent = (row: NewEventRow): NewEventRow => ({ ...row, id: null })

const newEventsStatement: Statement = {
  name: 'new events',
  text: `select call.at as "callAt", ${HORIZON}, x.*
    from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as call (account, xact, id, at)
    cross join lateral (select set_config('app.account', call.account, true) as account) as scope
    left join lateral (
      select e.id, e.intent_id as "intentId", e.wallet_id as "walletId", e.type, e.data, e.at, e.xact,
        ${BEFORE_HORIZON} as "isVisible"
      from intent_event e
      where e.account_id = scope.account and (e.xact, e.id) > (call.xact::xid8, call.id)
      order by e.xact, e.id limit $4 offset 0) as x on true
    order by call.at, x.xact, x.id`,
}
