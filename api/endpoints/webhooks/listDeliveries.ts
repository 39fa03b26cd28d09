import { z } from 'zod'
import { listDeliveries as listDeliveryRows } from '../../../db/webhooks/deliveries.js'
import { getWebhook } from '../../../db/webhooks/endpoints.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { readRoute } from '../../http/route.js'
import { listOf } from '../../schemas/resources.js'
import { delivery, deliveryAnswer, deliveryStatus } from '../../schemas/webhooks.js'
import { deliveryBody } from './deliveryBody.js'
import { oneWebhookCall } from './webhookSpec.js'

export const listDeliveries = readRoute(
  {
    ...{ ...oneWebhookCall, path: '/webhooks/:webhookId/deliveries' },
    query: z.strictObject({
      ...pageQuery(/^\d{1,18}$/),
      status: deliveryStatus.optional().meta({ description: 'Only deliveries with this status.' }),
    }),
    docs: {
      operationId: 'listDeliveries',
      tag: 'Webhooks',
      summary: 'List deliveries',
      description: 'Lists the deliveries of the last 30 days, with the responses of the endpoint.',
      responses: {
        200: {
          description: 'A page of deliveries.',
          schema: listOf(delivery, 'DeliveryList', 'Deliveries, newest first.'),
          examples: { last: { data: [deliveryAnswer], hasMore: false, nextCursor: null } },
        },
      },
      errors: ['WEBHOOK_NOT_FOUND'],
    },
  },
  async ({ db }, { caller: { accountId }, params: { webhookId }, query }) => {
    await getWebhook(db, accountId, webhookId)
    const slice = toSlice(query)
    const { status } = query
    const rows = await listDeliveryRows(db, { accountId, webhookId }, { status, slice })
    const named = rows.map((row) => ({ id: row.id.toString(), row }))
    return { status: 200, body: pageBody(named, slice, ({ row }) => deliveryBody(row)) }
  },
)
