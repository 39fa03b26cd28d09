import { newId } from '../client/ids.js'
import { selectScoped } from '../client/scope.js'
import { ServiceError } from '../../domain/errors.js'
import type { Db } from '../client/connect.js'
import type { EventType } from '../../domain/events/events.js'
import type { EndpointDisabledReason } from '../../domain/events/webhooks.js'

export type WebhookEndpoint = {
  id: string
  accountId: string
  url: string
  /** Null: all. */
  events: EventType[] | null
  description: string
  status: 'enabled' | 'disabled'
  disabledReason: EndpointDisabledReason | null
  disabledAt: Date | null
  createdAt: Date
}

const columns = [
  ...['id', 'account_id as accountId', 'url', 'events', 'description', 'status'],
  ...['disabled_reason as disabledReason', 'disabled_at as disabledAt', 'created_at as createdAt'],
]

export const newWebhookId = () => newId('wh_')

const liveOf = (db: Db, accountId: string) =>
  db('webhook').where({ account_id: accountId }).whereNull('deleted_at')

/** The endpoints of an account, oldest first. */
export async function listWebhooks(db: Db, accountId: string): Promise<WebhookEndpoint[]> {
  const query = liveOf(db, accountId).orderBy('id').select(columns)
  return selectScoped<WebhookEndpoint>(db, accountId, query)
}

/** @throws {ServiceError} WEBHOOK_NOT_FOUND, the same for unknown and foreign endpoints. */
export async function getWebhook(db: Db, accountId: string, id: string): Promise<WebhookEndpoint> {
  const query = liveOf(db, accountId).where({ id }).select(columns)
  const [webhook] = await selectScoped<WebhookEndpoint>(db, accountId, query)
  if (!webhook) throw unknownWebhook()
  return webhook
}

const unknownWebhook = () =>
  new ServiceError('WEBHOOK_NOT_FOUND', 'There is no webhook endpoint with this id.')

/** Number of endpoints of an account. Exact in a transaction that has locked the account's row. */
export async function countWebhooks(trx: Db, accountId: string): Promise<number> {
  const [row] = await liveOf(trx, accountId).count<{ count: bigint }[]>('id as count')
  return Number(row?.count ?? 0)
}

type NewWebhook = Pick<WebhookEndpoint, 'id' | 'accountId' | 'url' | 'events' | 'description'>
export type SealedSecret = { keyId: string; sealed: Buffer }

/** Stores an endpoint and its signing secret. */
export async function insertWebhook(
  trx: Db,
  { accountId, ...webhook }: NewWebhook,
  secret: SealedSecret,
): Promise<WebhookEndpoint> {
  const [row] = await trx('webhook')
    .insert({ ...webhook, account_id: accountId })
    .returning<WebhookEndpoint[]>(columns)
  if (!row) throw new Error('The endpoint was not stored.')
  await insertSecret(trx, webhook.id, secret)
  return row
}

async function insertSecret(trx: Db, webhookId: string, { keyId, sealed }: SealedSecret) {
  await trx('webhook_secret').insert({ webhook_id: webhookId, key_id: keyId, sealed })
}

export type WebhookChange = Partial<
  Pick<WebhookEndpoint, 'url' | 'events' | 'description' | 'status'>
>

/**
 * Updates the given fields of an endpoint. An endpoint that is enabled again receives events from then on.
 *
 * @throws {ServiceError} WEBHOOK_NOT_FOUND.
 */
export async function updateWebhook(
  trx: Db,
  { accountId, id }: Pick<WebhookEndpoint, 'accountId' | 'id'>,
  { status, ...change }: WebhookChange,
): Promise<WebhookEndpoint> {
  const disabled = { disabled_at: trx.raw('coalesce(disabled_at, clock_timestamp())') }
  const reason = { disabled_reason: trx.raw(`coalesce(disabled_reason, 'by_account')`) }
  const enabled_at = trx.raw(
    `case status when 'disabled' then clock_timestamp() else enabled_at end`,
  )
  const [row] = await liveOf(trx, accountId)
    .where({ id })
    .update({
      // An empty change is valid and returns the current row.
      description: trx.ref('description'),
      ...change,
      ...(status && { status }),
      ...(status === 'enabled' && { enabled_at, disabled_at: null, disabled_reason: null }),
      ...(status === 'disabled' && { ...disabled, ...reason }),
    })
    .returning<WebhookEndpoint[]>(columns)
  if (!row) throw unknownWebhook()
  return row
}

/** @throws {ServiceError} WEBHOOK_NOT_FOUND. */
export async function deleteWebhook(trx: Db, accountId: string, id: string): Promise<void> {
  const deleted = await liveOf(trx, accountId)
    .where({ id })
    .update({ deleted_at: trx.raw('clock_timestamp()') })
  if (deleted === 0) throw unknownWebhook()
}

/**
 * Makes another secret the current one. The previous one also signs for a grace period. An older one ends immediately.
 *
 * @returns When the previous secret ends.
 * @throws {ServiceError} WEBHOOK_NOT_FOUND.
 */
export async function rotateSecret(
  trx: Db,
  { accountId, id }: Pick<WebhookEndpoint, 'accountId' | 'id'>,
  { graceHours, ...secret }: SealedSecret & { graceHours: number },
): Promise<Date> {
  // The second of two concurrent rotations waits here.
  const locked = await liveOf(trx, accountId).where({ id }).forUpdate().pluck<string[]>('id')
  if (locked.length === 0) throw unknownWebhook()
  const secrets = trx('webhook_secret').where({ webhook_id: id })
  await secrets
    .clone()
    .whereRaw('ends_at > clock_timestamp()')
    .update({ ends_at: trx.raw('clock_timestamp()') })
  const [ended] = await secrets
    .clone()
    .whereNull('ends_at')
    .update({ ends_at: trx.raw(`clock_timestamp() + ? * interval '1 hour'`, [graceHours]) })
    .returning<{ endsAt: Date }[]>('ends_at as endsAt')
  await insertSecret(trx, id, secret)
  if (!ended) throw new Error('The endpoint has no secret.')
  return ended.endsAt
}

/** The public key that secrets are sealed to. Undefined before the first start of a worker with the key. */
export async function findWebhookKey(
  db: Db,
): Promise<{ id: string; publicKey: Buffer } | undefined> {
  return db('webhook_key').first<{ id: string; publicKey: Buffer } | undefined>(
    ...['id', 'public_key as publicKey'],
  )
}

/**
 * Publishes the public key that secrets are sealed to, unless one exists.
 *
 * @returns The id of the published key.
 */
export async function publishWebhookKey(
  db: Db,
  key: { id: string; publicKey: Uint8Array },
): Promise<string> {
  await db('webhook_key')
    .insert({ id: key.id, public_key: Buffer.from(key.publicKey) })
    .onConflict()
    .ignore()
  return (await findWebhookKey(db))?.id ?? key.id
}
