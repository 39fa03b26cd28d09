import { verifyWebhook } from '../webhooks/verify.js'
import type { Api } from '../http/api.js'
import type { List, PageParams } from '../http/pages.js'
import type { CallOptions, WriteOptions } from '../http/send.js'
import type { Known } from '../known.js'
import type { EventType } from './event.js'

/** Why an endpoint is disabled. */
export type DisabledReason = Known<'by_account' | 'gone' | 'failing'>
/** Why an attempt failed. */
export type AttemptError = Known<
  | 'timed_out'
  | 'not_resolved'
  | 'address_refused'
  | 'connection_failed'
  | 'tls_failed'
  | 'status_refused'
  | 'endpoint_disabled'
>

/** Your endpoint, which receives events. */
export type Webhook = {
  id: string
  url: string
  /** `*`: all types, including future ones. */
  events: Known<EventType | '*'>[]
  description: string
  status: Known<'enabled' | 'disabled'>
  disabledReason?: DisabledReason
  disabledAt?: string
  createdAt: string
}

/** `secret`: `whsec_…`, returned once. A repeated call does not return it; rotate the secret then. */
export type CreatedWebhook = Webhook & { secret?: string }
/** The previous secret signs too until `previousUntil`. */
export type RotatedSecret = { secret?: string; previousUntil: string }
export type DeletedWebhook = { id: string; deleted: true }

export type WebhookAttempt = {
  at: string
  status?: number
  ms: number
  error?: AttemptError
  body?: string
}

export type WebhookDelivery = {
  id: string
  webhookId: string
  eventId: string
  /** The intent of the event. */
  intentId?: string
  type: EventType
  status: Known<'pending' | 'delivered' | 'failed'>
  attempts: WebhookAttempt[]
  nextAttemptAt?: string
  createdAt: string
}

/** `events`: default all types. */
export type CreateWebhookParams = {
  url: string
  events?: readonly string[] | undefined
  description?: string | undefined
}
export type UpdateWebhookParams = Partial<CreateWebhookParams> & {
  status?: 'enabled' | 'disabled' | undefined
}
/** `graceHours`: hours during which the previous secret signs too. Default: 24. */
export type RotateSecretParams = { graceHours?: number | undefined }

const pathOf = (id: string) => `/v1/webhooks/${encodeURIComponent(id)}`

export const createWebhooks = ({ get, post, list }: Api) => ({
  create: (params: CreateWebhookParams, options?: WriteOptions): Promise<CreatedWebhook> =>
    post('/v1/webhooks', params, options),

  list: (params: PageParams = {}, options?: CallOptions): List<Webhook> =>
    list('/v1/webhooks', params, options),

  get: (id: string, options?: CallOptions): Promise<Webhook> => get(pathOf(id), {}, options),

  /** `status: 'enabled'` enables a disabled endpoint again. */
  update: (id: string, params: UpdateWebhookParams, options?: WriteOptions): Promise<Webhook> =>
    post(pathOf(id), params, options),

  delete: (id: string, options?: WriteOptions): Promise<DeletedWebhook> =>
    post(`${pathOf(id)}/delete`, {}, options),

  rotateSecret: (
    id: string,
    params: RotateSecretParams = {},
    options?: WriteOptions,
  ): Promise<RotatedSecret> => post(`${pathOf(id)}/rotate-secret`, params, options),

  /** Sends a `webhook.test` event. */
  test: (id: string, options?: WriteOptions): Promise<WebhookDelivery> =>
    post(`${pathOf(id)}/test`, {}, options),

  /** The deliveries with the responses of the endpoint, newest first. */
  deliveries: (id: string, params: PageParams = {}, options?: CallOptions): List<WebhookDelivery> =>
    list(`${pathOf(id)}/deliveries`, params, options),

  resend: (id: string, deliveryId: string, options?: WriteOptions): Promise<WebhookDelivery> =>
    post(`${pathOf(id)}/deliveries/${encodeURIComponent(deliveryId)}/resend`, {}, options),

  verify: verifyWebhook,
})
