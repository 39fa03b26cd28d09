import { z } from 'zod'
import { resend, unknownDelivery } from '../../../db/webhooks/deliveries.js'
import { getWebhook } from '../../../db/webhooks/endpoints.js'
import { invalidRequest } from '../../../domain/errors.js'
import { fromDeliveryId } from '../../../domain/events/webhooks.js'
import { emptyBody } from '../../http/input.js'
import { writeRoute } from '../../http/route.js'
import { deliveryAnswer, deliveryIdInput, webhookIdInput } from '../../schemas/webhooks.js'
import { deliveryBody, due, startedDelivery } from './deliveryBody.js'
import { webhookCall } from './webhookSpec.js'

export const resendDelivery = writeRoute(
  {
    ...{ ...webhookCall, path: '/webhooks/:webhookId/deliveries/:deliveryId/resend' },
    body: emptyBody,
    params: z.object({ webhookId: webhookIdInput, deliveryId: deliveryIdInput }),
    docs: {
      operationId: 'resendDelivery',
      tag: 'Webhooks',
      summary: 'Send an event again',
      description:
        'Repeats a delivery in any status, with the same body and the same `webhook-id`.',
      responses: {
        200: {
          ...startedDelivery,
          examples: { again: { ...deliveryAnswer, ...due, status: 'pending' } },
        },
      },
      errors: ['WEBHOOK_NOT_FOUND', 'DELIVERY_NOT_FOUND'],
    },
  },
  async ({ db }, { caller: { accountId }, params: { webhookId, deliveryId } }, commit) => {
    const { status } = await getWebhook(db, accountId, webhookId)
    const id = fromDeliveryId(deliveryId)
    if (id === undefined) throw unknownDelivery()
    if (status === 'disabled') {
      const message = 'The endpoint is disabled. Enable it first.'
      throw invalidRequest('', message, 'webhook_disabled')
    }
    return commit(async (trx) => {
      const again = await resend(trx, { accountId, webhookId }, id)
      return { status: 200, body: deliveryBody(again) }
    })
  },
)
