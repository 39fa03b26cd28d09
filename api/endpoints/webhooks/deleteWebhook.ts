import { deleteWebhook as deleteWebhookRow } from '../../../db/webhooks/endpoints.js'
import { emptyBody } from '../../http/input.js'
import { writeRoute } from '../../http/route.js'
import { deletedWebhook, webhookAnswer } from '../../schemas/webhooks.js'
import { oneWebhookCall } from './webhookSpec.js'

export const deleteWebhook = writeRoute(
  {
    ...{ ...oneWebhookCall, path: '/webhooks/:webhookId/delete', body: emptyBody },
    docs: {
      operationId: 'deleteWebhook',
      tag: 'Webhooks',
      summary: 'Delete an endpoint',
      responses: {
        200: {
          description: 'The endpoint is deleted and receives no more events.',
          schema: deletedWebhook,
          examples: { deleted: { id: webhookAnswer.id, deleted: true } },
        },
      },
      errors: ['WEBHOOK_NOT_FOUND'],
    },
  },
  async (_services, { caller: { accountId }, params: { webhookId } }, commit) =>
    commit(async (trx) => {
      await deleteWebhookRow(trx, accountId, webhookId)
      return { status: 200, body: { id: webhookId, deleted: true } }
    }),
)
