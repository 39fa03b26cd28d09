import { selectScoped } from '../connection/scope.js'
import { sliced, type Slice } from '../connection/slice.js'
import { ServiceError } from '../../domain/errors.js'
import type { Db } from '../connection/connect.js'
import type { EventType } from '../../domain/events.js'
import type { Attempt, DeliveryStatus } from '../../domain/webhooks.js'

/** An event on its way to an endpoint, as its account sees it. */
export type Delivery = {
  id: bigint
  webhookId: string
  eventId: bigint
  type: EventType
  status: DeliveryStatus
  attempts: Attempt[]
  nextAttemptAt: Date | null
  createdAt: Date
}

const columns = [
  ...['id', 'webhook_id as webhookId', 'event_id as eventId', 'type', 'status', 'attempts'],
  ...['next_attempt_at as nextAttemptAt', 'created_at as createdAt'],
]

type Key = { accountId: string; webhookId: string }
type Slicing = { status: DeliveryStatus | undefined; slice: Slice }

/** The deliveries of a page, newest first, and one more. */
export async function listDeliveries(
  db: Db,
  { accountId, webhookId }: Key,
  { status, slice }: Slicing,
): Promise<Delivery[]> {
  const own = db('webhook_delivery').where({ account_id: accountId, webhook_id: webhookId })
  if (status !== undefined) void own.where({ status })
  // In words, and not as a value: a plan for any values finds them in their own index too.
  if (status !== undefined && status !== 'delivered') void own.whereRaw(`status <> 'delivered'`)
  return selectScoped<Delivery>(db, accountId, sliced(own, 'id', slice).select(columns))
}

/**
 * Orders a test event and its delivery, in the caller's transaction.
 *
 * @returns undefined when the endpoint is disabled, or when there is none.
 */
export async function insertTest(
  trx: Db,
  { accountId, webhookId }: Key,
): Promise<Delivery | undefined> {
  const { rows } = await trx.raw<{ rows: [{ id: bigint | null }] }>(
    'select test_webhook(?) as id',
    [webhookId],
  )
  const { id } = rows[0]
  if (id === null) return undefined
  return trx('webhook_delivery')
    .where({ id: id.toString(), account_id: accountId })
    .first<Delivery>(columns)
}

/**
 * Has a delivery sent once more, whatever has become of it; what is under way begins anew.
 *
 * @throws {ServiceError} DELIVERY_NOT_FOUND, the same for unknown and foreign ones.
 */
export async function resend(
  trx: Db,
  { accountId, webhookId }: Key,
  id: bigint,
): Promise<Delivery> {
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
    .returning<Delivery[]>(columns)
  if (!delivery) throw unknownDelivery()
  // Whoever starts deliveries hears of it.
  await trx.raw(`select pg_notify('intent_event', ?)`, [accountId])
  return delivery
}

export const unknownDelivery = () =>
  new ServiceError('DELIVERY_NOT_FOUND', 'The endpoint has no delivery with this id.')
