import {
  fromPublicType,
  toPublicType,
  type PublicEventType,
} from '../../../domain/events/events.js'
import { ALL_EVENTS } from '../../schemas/webhooks.js'
import type { WebhookEndpoint } from '../../../db/webhooks/endpoints.js'

export function webhookBody({ disabledReason, disabledAt, ...row }: WebhookEndpoint) {
  return {
    id: row.id,
    url: row.url,
    events: row.events?.map(toPublicType) ?? [ALL_EVENTS],
    description: row.description,
    status: row.status,
    ...(disabledReason && { disabledReason }),
    ...(disabledAt && { disabledAt: disabledAt.toISOString() }),
    createdAt: row.createdAt.toISOString(),
  }
}

/** Null: all types. */
export function toEventTypes(names: (PublicEventType | typeof ALL_EVENTS)[]) {
  const types = names.flatMap((name) => (name === ALL_EVENTS ? [] : [fromPublicType(name)]))
  return types.length < names.length ? null : [...new Set(types)]
}
