import { insertTest } from '../../../db/webhooks/deliveries.js'
import { getWebhook } from '../../../db/webhooks/endpoints.js'
import { invalidRequest } from '../../../domain/errors.js'
import { emptyBody } from '../../http/input.js'
import { writeRoute } from '../../http/route.js'
import { deliveryAnswer } from '../../schemas/webhooks.js'
import { deliveryBody, due, startedDelivery } from './deliveryBody.js'
import { oneWebhookCall } from './webhookSpec.js'

const pending = { ...deliveryAnswer, status: 'pending', attempts: [] }

export const testWebhook = writeRoute(
  {
    ...{ ...oneWebhookCall, path: '/webhooks/:webhookId/test', body: emptyBody },
    docs: {
      operationId: 'testWebhook',
      tag: 'Webhooks',
      summary: 'Send a test event',
      description:
        'Sends `webhook.test` to this endpoint, also when it does not subscribe to that type.',
      responses: {
        201: {
          ...startedDelivery,
          examples: { test: { ...pending, ...due, type: 'webhook.test' } },
          ids: { webhookId: 'webhookId', deliveryId: 'id' },
        },
      },
      errors: ['WEBHOOK_NOT_FOUND'],
    },
  },
  async ({ db }, { caller: { accountId }, params: { webhookId } }, commit) => {
    await getWebhook(db, accountId, webhookId)
    return commit(async (trx) => {
      const made = await insertTest(trx, { accountId, webhookId })
      if (!made) {
        const message = 'The endpoint is disabled. Enable it first.'
        throw invalidRequest('', message, 'webhook_disabled')
      }
      return { status: 201, body: deliveryBody(made) }
    })
  },
)
