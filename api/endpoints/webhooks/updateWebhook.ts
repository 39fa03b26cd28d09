import { updateWebhook as updateWebhookRow } from '../../../db/webhooks/endpoints.js'
import { writeRoute } from '../../http/route.js'
import { updateWebhookBody } from '../../schemas/webhooks.js'
import { assertReachable } from './assertReachable.js'
import { toEventTypes, webhookBody } from './webhookBody.js'
import { oneWebhookCall, webhookResponse } from './webhookSpec.js'

export const updateWebhook = writeRoute(
  {
    ...{ ...oneWebhookCall, path: '/webhooks/:webhookId', body: updateWebhookBody },
    docs: {
      operationId: 'updateWebhook',
      tag: 'Webhooks',
      summary: 'Change, disable or enable an endpoint',
      description: 'Changes the given fields of an endpoint.',
      requests: { enable: { status: 'enabled' } },
      responses: { 200: webhookResponse },
      errors: ['WEBHOOK_NOT_FOUND'],
    },
  },
  async (services, { caller: { accountId }, params: { webhookId }, body }, commit) => {
    const { url, events, description, status } = body
    if (url !== undefined) await assertReachable(services, url)
    return commit(async (trx) => {
      const change = {
        ...(url !== undefined && { url }),
        ...(events && { events: toEventTypes(events) }),
        ...(description !== undefined && { description }),
        ...(status && { status }),
      }
      const row = await updateWebhookRow(trx, { accountId, id: webhookId }, change)
      return { status: 200, body: webhookBody(row) }
    })
  },
)
