import { verifyWebhook } from '../webhooks/verify.js'
import type { Api } from '../http/api.js'
import type { List, PageParams } from '../http/pages.js'
import type { CallOptions, WriteOptions } from '../http/send.js'
import type { Known } from '../known.js'
import type { EventType } from './event.js'

/** Why nothing is sent to an endpoint. */
export type DisabledReason = Known<'by_account' | 'gone' | 'failing'>
/** Why a try was not accepted. */
export type AttemptError = Known<
  | 'timed_out'
  | 'not_resolved'
  | 'address_refused'
  | 'connection_failed'
  | 'tls_failed'
  | 'status_refused'
  | 'endpoint_disabled'
>

/** An endpoint of yours that is told what happens. */
export type Webhook = {
  id: string
  url: string
  /** `*`: all, those too that come later. */
  events: Known<EventType | '*'>[]
  description: string
  status: Known<'enabled' | 'disabled'>
  disabledReason?: DisabledReason
  disabledAt?: string
  createdAt: string
}

/** `secret`: `whsec_…`. It is shown once: when the answer was lost and the call made again, rotate it. */
export type CreatedWebhook = Webhook & { secret?: string }
/** The secret before signs as well until `previousUntil`. */
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
  type: EventType
  status: Known<'pending' | 'delivered' | 'failed'>
  attempts: WebhookAttempt[]
  nextAttemptAt?: string
  createdAt: string
}

/** `events`: all of them when absent. */
export type CreateWebhookParams = {
  url: string
  events?: readonly string[] | undefined
  description?: string | undefined
}
export type UpdateWebhookParams = Partial<CreateWebhookParams> & {
  status?: 'enabled' | 'disabled' | undefined
}
/** For how long the secret before it signs as well; 24 hours when absent. */
export type RotateSecretParams = { graceHours?: number | undefined }

const pathOf = (id: string) => `/v1/webhooks/${encodeURIComponent(id)}`

export const createWebhooks = ({ get, post, list }: Api) => ({
  create: (params: CreateWebhookParams, options?: WriteOptions): Promise<CreatedWebhook> =>
    post('/v1/webhooks', params, options),

  list: (params: PageParams = {}, options?: CallOptions): List<Webhook> =>
    list('/v1/webhooks', params, options),

  get: (id: string, options?: CallOptions): Promise<Webhook> => get(pathOf(id), {}, options),

  /** `status: 'enabled'` has one that was disabled work again. */
  update: (id: string, params: UpdateWebhookParams, options?: WriteOptions): Promise<Webhook> =>
    post(pathOf(id), params, options),

  delete: (id: string, options?: WriteOptions): Promise<DeletedWebhook> =>
    post(`${pathOf(id)}/delete`, {}, options),

  rotateSecret: (
    id: string,
    params: RotateSecretParams = {},
    options?: WriteOptions,
  ): Promise<RotatedSecret> => post(`${pathOf(id)}/rotate-secret`, params, options),

  /** Sends a `webhook.test`. */
  test: (id: string, options?: WriteOptions): Promise<WebhookDelivery> =>
    post(`${pathOf(id)}/test`, {}, options),

  /** What was sent, newest first, with what the endpoint has answered. */
  deliveries: (id: string, params: PageParams = {}, options?: CallOptions): List<WebhookDelivery> =>
    list(`${pathOf(id)}/deliveries`, params, options),

  resend: (id: string, deliveryId: string, options?: WriteOptions): Promise<WebhookDelivery> =>
    post(`${pathOf(id)}/deliveries/${encodeURIComponent(deliveryId)}/resend`, {}, options),

  verify: verifyWebhook,
})
