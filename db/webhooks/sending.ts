import type { Db } from '../client/connect.js'
import type { IntentEvent } from '../../domain/events/events.js'
import type { Attempt, EndpointDisabledReason } from '../../domain/events/webhooks.js'

/** A run of a delivery. A repeated delivery is a new run. */
export type DeliveryRun = { deliveryId: bigint; run: number }

/** Result of a dispatch: more work follows immediately (`isFull`) or soon (`isHeld`). `isWaiting`: runs awaited their start before it. */
export type Dispatch = { made: number; isFull: boolean; isHeld: boolean; isWaiting: boolean }

/** Creates deliveries for new events, at most `limit` events. One process does so at a time. */
export async function dispatchEvents(db: Db, limit: number): Promise<Dispatch> {
  const { rows } = await db.raw<{ rows: [Dispatch] }>(
    `select made, is_full as "isFull", is_held as "isHeld", exists (
       select from webhook_delivery where dispatched_at is null and status = 'pending') as "isWaiting"
     from dispatch_webhooks(?)`,
    [limit],
  )
  return rows[0]
}

type RunRow = DeliveryRun & { accountId: string; webhookId: string }

const runColumns = `id as "deliveryId", run, account_id as "accountId", webhook_id as "webhookId"`

/** Runs whose workflow is not started. Endpoints take turns, so that one with many deliveries blocks no other. */
export async function findUndispatched(db: Db, limit: number): Promise<RunRow[]> {
  const { rows } = await db.raw<{ rows: RunRow[] }>(
    `select ${runColumns} from webhook_delivery
     where dispatched_at is null and status = 'pending'
     order by row_number() over (partition by webhook_id order by id), id limit ?`,
    [limit],
  )
  return rows
}

/** Pending runs that are overdue and were not started since: their workflow may be lost. */
export async function findOverdue(
  db: Db,
  { forMs, limit }: { forMs: number; limit: number },
): Promise<RunRow[]> {
  const { rows } = await db.raw<{ rows: RunRow[] }>(
    `select ${runColumns} from webhook_delivery
     where status = 'pending' and next_attempt_at < clock_timestamp() - ? * interval '1 millisecond'
       and dispatched_at < clock_timestamp() - ? * interval '1 millisecond'
     order by next_attempt_at limit ?`,
    [forMs, forMs, limit],
  )
  return rows
}

/** Records that the workflows of these runs are started. A run with a successor is not changed. */
export async function setDeliveriesDispatched(db: Db, runs: DeliveryRun[]): Promise<void> {
  await db.raw(
    `update webhook_delivery d set dispatched_at = clock_timestamp()
     from unnest(?::bigint[], ?::int[]) as started (id, run)
     where d.id = started.id and d.run = started.run`,
    [runs.map(({ deliveryId }) => deliveryId.toString()), runs.map(({ run }) => run)],
  )
}

/** The data of an attempt. `elapsedMs`: since the run began. */
export type Sendable = {
  webhook: { id: string; accountId: string; url: string; isEnabled: boolean }
  secrets: { keyId: string; sealed: Buffer }[]
  event: IntentEvent
  runAttempts: number
  elapsedMs: number
}

/** A delivery with its endpoint, event and secrets. Undefined when the run has ended. */
export async function findSendable(db: Db, run: DeliveryRun): Promise<Sendable | undefined> {
  const row = await db('webhook_delivery as d')
    .join('webhook as w', 'w.id', 'd.webhook_id')
    .join('intent_event as e', 'e.id', 'd.event_id')
    .where({ 'd.id': run.deliveryId.toString(), 'd.run': run.run, 'd.status': 'pending' })
    .first<SendableRow | undefined>(
      ...['w.id as webhookId', 'w.account_id as accountId', 'w.url'],
      ...['d.run_attempts as runAttempts', 'e.id', 'e.intent_id as intentId'],
      ...['e.wallet_id as walletId', 'e.type', 'e.data', 'e.at'],
      db.raw(`w.status = 'enabled' and w.deleted_at is null as "isEnabled"`),
      db.raw(`extract(epoch from clock_timestamp() - d.run_since)::float * 1000 as "elapsedMs"`),
      db.raw(`(select json_agg(json_build_object('keyId', s.key_id, 'sealed', encode(s.sealed, 'hex'))
          order by s.id desc) from webhook_secret s
        where s.webhook_id = w.id and (s.ends_at is null or s.ends_at > clock_timestamp())) as secrets`),
    )
  return row && toSendable(row)
}

type SendableRow = Omit<Sendable, 'webhook' | 'event' | 'secrets'> & { webhookId: string } & Pick<
    Sendable['webhook'],
    'accountId' | 'url' | 'isEnabled'
  > & { secrets: { keyId: string; sealed: string }[] | null } & IntentEvent

function toSendable(row: SendableRow): Sendable {
  const { webhookId, accountId, url, isEnabled, runAttempts, elapsedMs, secrets, ...event } = row
  return {
    webhook: { id: webhookId, accountId, url, isEnabled },
    secrets: (secrets ?? []).map(({ keyId, sealed }) => ({
      keyId,
      sealed: Buffer.from(sealed, 'hex'),
    })),
    event,
    runAttempts,
    elapsedMs,
  }
}

/** Only the latest attempts are kept, because a delivery can be repeated any number of times. */
const KEPT_ATTEMPTS = 50

/** The result of an attempt. `retryInMs`: delay of the next one. */
export type Verdict = { status: 'delivered' | 'failed' } | { status: 'pending'; retryInMs: number }

/** Records an attempt and its result. A run that has ended or has a successor is not changed. */
export async function recordAttempt(
  db: Db,
  run: DeliveryRun,
  { attempt, verdict }: { attempt: Attempt; verdict: Verdict },
): Promise<void> {
  const next =
    verdict.status === 'pending'
      ? db.raw(`clock_timestamp() + ? * interval '1 millisecond'`, [verdict.retryInMs])
      : null
  await db('webhook_delivery')
    .where({ id: run.deliveryId.toString(), run: run.run, status: 'pending' })
    .update({
      status: verdict.status,
      next_attempt_at: next,
      run_attempts: db.raw('run_attempts + 1'),
      attempts: db.raw(
        `case when jsonb_array_length(attempts) < ? then attempts else attempts - 0 end || ?::jsonb`,
        [KEPT_ATTEMPTS, JSON.stringify([attempt])],
      ),
    })
}

/** True when the endpoint has accepted a delivery within the given time. */
export async function hasAccepted(db: Db, webhookId: string, withinMs: number): Promise<boolean> {
  const row = await db('webhook_delivery')
    .where({ webhook_id: webhookId, status: 'delivered' })
    .whereRaw(
      `(attempts -> -1 ->> 'at')::timestamptz > clock_timestamp() - ? * interval '1 millisecond'`,
      [withinMs],
    )
    .first<{ id: bigint } | undefined>('id')
  return row !== undefined
}

/** Disables an endpoint, which notifies its account. */
export async function disableWebhook(
  db: Db,
  webhookId: string,
  reason: EndpointDisabledReason,
): Promise<void> {
  await db.raw('select disable_webhook(?, ?)', [webhookId, reason])
}

const KEPT_DAYS = 30

/**
 * Deletes at most `limit` ended deliveries that are older than 30 days.
 *
 * @returns How many were deleted. Less than `limit` when none is left.
 */
export async function deleteOldDeliveries(db: Db, limit: number): Promise<number> {
  // Parameters in subqueries, so that the generic plan is reused: planning takes longer than the deletion.
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `delete from webhook_delivery where id in (
       select id from webhook_delivery
       where created_at < statement_timestamp() - (select cast(? as float8)) * interval '1 day'
         and status <> 'pending'
       order by created_at limit (select cast(? as bigint)))`,
    [KEPT_DAYS, limit],
  )
  return rowCount
}
