import { selectScoped } from '../client/scope.js'
import { sliced, type Slice } from '../client/slice.js'
import { ServiceError } from '../../domain/errors.js'
import type { Db } from '../client/connect.js'
import type { EventType } from '../../domain/events/events.js'
import type { Attempt, DeliveryStatus } from '../../domain/events/webhooks.js'

/** A delivery, as its account sees it. */
export type DeliveryRow = {
  id: bigint
  webhookId: string
  eventId: bigint
  type: EventType
  /** Null: an event of the account. */
  intentId: string | null
  status: DeliveryStatus
  attempts: Attempt[]
  nextAttemptAt: Date | null
  createdAt: Date
}

const columns = [
  ...['id', 'webhook_id as webhookId', 'event_id as eventId', 'type', 'status', 'attempts'],
  ...['intent_id as intentId', 'next_attempt_at as nextAttemptAt', 'created_at as createdAt'],
]

type Key = { accountId: string; webhookId: string }
type Slicing = { status: DeliveryStatus | undefined; slice: Slice }

/** The deliveries of a page, newest first, plus one. */
export async function listDeliveries(
  db: Db,
  { accountId, webhookId }: Key,
  { status, slice }: Slicing,
): Promise<DeliveryRow[]> {
  const own = db('webhook_delivery').where({ account_id: accountId, webhook_id: webhookId })
  if (status !== undefined) void own.where({ status })
  // A literal instead of a parameter, so that the generic plan uses the index.
  if (status !== undefined && status !== 'delivered') void own.whereRaw(`status <> 'delivered'`)
  return selectScoped<DeliveryRow>(db, accountId, sliced(own, 'id', slice).select(columns))
}

/** Deliveries of an account over all its endpoints, deleted ones included, newest first: those of an intent, or one. */
export async function findDeliveries(
  db: Db,
  accountId: string,
  { intentId, id, slice }: { intentId?: string | undefined; id?: bigint | undefined; slice: Slice },
): Promise<DeliveryRow[]> {
  const own = db('webhook_delivery').where({
    account_id: accountId,
    ...(intentId !== undefined && { intent_id: intentId }),
    ...(id !== undefined && { id: id.toString() }),
  })
  return selectScoped<DeliveryRow>(db, accountId, sliced(own, 'id', slice).select(columns))
}

/**
 * Creates a test event and its delivery, in the caller's transaction.
 *
 * @returns Undefined when the endpoint is missing or disabled.
 */
export async function insertTest(
  trx: Db,
  { accountId, webhookId }: Key,
): Promise<DeliveryRow | undefined> {
  const { rows } = await trx.raw<{ rows: [{ id: bigint | null }] }>(
    'select test_webhook(?) as id',
    [webhookId],
  )
  const { id } = rows[0]
  if (id === null) return undefined
  return trx('webhook_delivery')
    .where({ id: id.toString(), account_id: accountId })
    .first<DeliveryRow>(columns)
}

/**
 * Repeats a delivery in any status. A pending one restarts.
 *
 * @throws {ServiceError} DELIVERY_NOT_FOUND, the same for unknown and foreign deliveries.
 */
export async function resend(
  trx: Db,
  { accountId, webhookId }: Key,
  id: bigint,
): Promise<DeliveryRow> {
  const [delivery] = await trx('webhook_delivery')
    .where({ id: id.toString(), account_id: accountId, webhook_id: webhookId })
    .update({
      status: 'pending',
      run: trx.raw('run + 1'),
      run_attempts: 0,
      run_since: trx.raw('clock_timestamp()'),
      next_attempt_at: trx.raw('clock_timestamp()'),
      dispatched_at: null,
    })
    .returning<DeliveryRow[]>(columns)
  if (!delivery) throw unknownDelivery()
  // Notifies the worker, which starts deliveries.
  await trx.raw(`select pg_notify('intent_event', ?)`, [accountId])
  return delivery
}

export const unknownDelivery = () =>
  new ServiceError('DELIVERY_NOT_FOUND', 'The endpoint has no delivery with this id.')
