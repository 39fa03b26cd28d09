import { toEventId } from '../../../domain/events/eventBody.js'
import { toPublicType } from '../../../domain/events/events.js'
import { toDeliveryId } from '../../../domain/events/webhooks.js'
import { delivery, deliveryAnswer } from '../../schemas/webhooks.js'
import type { DeliveryRow } from '../../../db/webhooks/deliveries.js'

export const startedDelivery = { description: 'The pending delivery.', schema: delivery }

export const due = { nextAttemptAt: deliveryAnswer.createdAt }

export function deliveryBody({ nextAttemptAt, ...row }: DeliveryRow) {
  return {
    id: toDeliveryId(row.id),
    webhookId: row.webhookId,
    eventId: toEventId(row.eventId),
    type: toPublicType(row.type),
    ...(row.intentId && { intentId: row.intentId }),
    status: row.status,
    attempts: row.attempts,
    ...(nextAttemptAt && { nextAttemptAt: nextAttemptAt.toISOString() }),
    createdAt: row.createdAt.toISOString(),
  }
}
