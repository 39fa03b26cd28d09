import { getWebhook as getWebhookRow } from '../../../db/webhooks/endpoints.js'
import { readRoute } from '../../http/route.js'
import { webhookBody } from './webhookBody.js'
import { oneWebhookCall, webhookResponse } from './webhookSpec.js'

export const getWebhook = readRoute(
  {
    ...{ ...oneWebhookCall, path: '/webhooks/:webhookId' },
    docs: {
      operationId: 'getWebhook',
      tag: 'Webhooks',
      summary: 'Get an endpoint',
      responses: { 200: webhookResponse },
      errors: ['WEBHOOK_NOT_FOUND'],
    },
  },
  async ({ db }, { caller: { accountId }, params: { webhookId } }) => ({
    status: 200,
    body: webhookBody(await getWebhookRow(db, accountId, webhookId)),
  }),
)
