import { z } from 'zod'
import { safeText } from './safeText.js'
import { eventTypes, toPublicType, type PublicEventType } from '../../domain/events/events.js'
import { attemptErrors, disabledReasons } from '../../domain/events/webhooks.js'
import { count, identifier, intentId, text, time } from './fields.js'

/** Webhook endpoints and their deliveries. */

const keysOf = <Name extends string>(catalog: Record<Name, string>) =>
  Object.keys(catalog) as [Name, ...Name[]]
const describeAll = (catalog: Record<string, string>) =>
  Object.entries(catalog)
    .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
    .join(' ')

export const ALL_EVENTS = '*'
const typeNames: [typeof ALL_EVENTS, ...PublicEventType[]] = [
  ALL_EVENTS,
  ...eventTypes.map(toPublicType),
]

const webhookId = identifier('wh_', 'WebhookId', 'Identifies a webhook endpoint.')
export const webhookIdInput = safeText(64).meta({
  description: 'Id of a webhook endpoint, as `POST /webhooks` returned it.',
  examples: ['wh_01m7y67meyf8887pvj8zyn62fz'],
})
export const deliveryIdInput = safeText(64).meta({
  description: 'Id of a delivery of this endpoint.',
  examples: ['whd_12'],
})

const secret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
  .meta({
    description:
      'Secret that signs deliveries. It is shown once: a replay by `Idempotency-Key` omits it. Rotate a lost secret.',
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0BN4ygFzvX0='],
  })

const url = safeText(2_048).meta({
  description:
    'An https URL on port 443 whose name resolves to a public address. On a devnet also http, and a loopback address on any port.',
  examples: ['https://example.com/hooks/steward'],
})
const events = z
  .array(z.enum(typeNames))
  .min(1)
  .meta({
    description: `Types of events to send. \`${ALL_EVENTS}\`: all types, including future ones.`,
    examples: [['intent.completed', 'intent.failed']],
  })
const description = z
  .string()
  .max(200)
  .meta({
    description: 'Your own note.',
    examples: ['Ledger service'],
  })
const status = z.enum(['enabled', 'disabled']).meta({
  description:
    'A disabled endpoint receives no events. Events of that time are not sent later: read them on `GET /events`.',
})

export const createWebhookBody = z
  .strictObject({
    url,
    events: events.default([ALL_EVENTS]),
    description: description.default(''),
  })
  .meta({ id: 'CreateWebhookRequest' })

export const updateWebhookBody = z
  .strictObject({
    url: url.optional(),
    events: events.optional(),
    description: description.optional(),
    status: status.optional(),
  })
  .meta({ id: 'UpdateWebhookRequest' })

/** A week. */
const MAX_GRACE_HOURS = 168

export const rotateSecretBody = z
  .strictObject({
    graceHours: z
      .int()
      .min(0)
      .max(MAX_GRACE_HOURS)
      .default(24)
      .meta({ description: 'Hours for which the previous secret also signs.' }),
  })
  .default({ graceHours: 24 })
  .meta({ id: 'RotateSecretRequest' })

const webhookFields = {
  id: webhookId,
  url,
  events,
  description,
  status,
  disabledReason: z
    .enum(keysOf(disabledReasons))
    .optional()
    .meta({ description: describeAll(disabledReasons) }),
  disabledAt: time('When it was disabled, UTC.').optional(),
  createdAt: time('When it was created, UTC.'),
}
export const webhook = z
  .strictObject(webhookFields)
  .meta({ id: 'Webhook', description: 'An endpoint that receives events.' })
export const createdWebhook = z
  .strictObject({ ...webhookFields, secret: secret.optional() })
  .meta({ id: 'CreatedWebhook', description: 'A new endpoint, with its secret.' })
export const rotatedSecret = z
  .strictObject({
    secret: secret.optional(),
    previousUntil: time('Until when the previous secret also signs, UTC.'),
  })
  .meta({ id: 'RotatedSecret', description: 'The new secret of an endpoint.' })
export const deletedWebhook = z
  .strictObject({ id: webhookId, deleted: z.literal(true) })
  .meta({ id: 'DeletedWebhook', description: 'A deleted endpoint.' })

const attempt = z
  .strictObject({
    at: time('When it was sent, UTC.'),
    ms: count('Duration in milliseconds.', 87),
    status: z
      .int()
      .optional()
      .meta({ description: 'HTTP status of the response.', examples: [200] }),
    error: z
      .enum(keysOf(attemptErrors))
      .optional()
      .meta({
        description: `Absent when the endpoint accepted the event. ${describeAll(attemptErrors)}`,
      }),
    body: z
      .string()
      .optional()
      .meta({ description: 'The first kB of the response.', examples: ['ok'] }),
  })
  .meta({ id: 'DeliveryAttempt', description: 'An attempt to deliver.' })

export const deliveryStatus = z.enum(['pending', 'delivered', 'failed'])
export const delivery = z
  .strictObject({
    id: z
      .string()
      .regex(/^whd_\d+$/)
      .meta({ description: 'Identifies a delivery.', examples: ['whd_12'] }),
    webhookId,
    eventId: text('Id of the event, same as the header `webhook-id` of each attempt.', 'evt_8'),
    type: z.enum(eventTypes.map(toPublicType)).meta({ description: 'Type of the event.' }),
    intentId: intentId.optional().meta({
      description: 'The intent of the event. Absent for an event of the account.',
    }),
    status: deliveryStatus.meta({
      description: '`failed`: all attempts of three days failed, or the endpoint was disabled.',
    }),
    attempts: z.array(attempt).meta({ description: 'The latest 50 attempts, oldest first.' }),
    nextAttemptAt: time(
      'Time of the next attempt, UTC. Absent when the delivery has ended.',
    ).optional(),
    createdAt: time('When it was created, UTC.'),
  })
  .meta({ id: 'Delivery', description: 'The delivery of an event to an endpoint.' })

export const createWebhookRequest = {
  url: 'https://example.com/hooks/steward',
  events: ['intent.completed', 'intent.failed'],
  description: 'Ledger service',
}
export const webhookAnswer = {
  id: 'wh_01m7y67meyf8887pvj8zyn62fz',
  ...createWebhookRequest,
  status: 'enabled',
  createdAt: '2026-11-21T04:36:02.845Z',
}
export const rotatedAnswer = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0BN4ygFzvX0=',
  previousUntil: '2026-11-22T04:36:02.845Z',
}
export const deliveryAnswer = {
  id: 'whd_12',
  webhookId: webhookAnswer.id,
  eventId: 'evt_8',
  type: 'intent.completed',
  intentId: 'intent_01m7y67v14e52t225qv2zm6kz4',
  status: 'delivered',
  attempts: [{ at: '2026-11-21T04:36:07.801Z', ms: 87, status: 200, body: 'ok' }],
  createdAt: '2026-11-21T04:36:07.702Z',
}
