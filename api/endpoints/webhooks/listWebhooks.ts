import { z } from 'zod'
import { listWebhooks as listWebhookRows } from '../../../db/webhooks/endpoints.js'
import { noParams } from '../../http/input.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { readRoute } from '../../http/route.js'
import { listOf } from '../../schemas/resources.js'
import { webhook, webhookAnswer } from '../../schemas/webhooks.js'
import { webhookBody } from './webhookBody.js'
import { webhookCall } from './webhookSpec.js'

export const listWebhooks = readRoute(
  {
    ...{
      ...webhookCall,
      path: '/webhooks',
      params: noParams,
      query: z.strictObject(pageQuery(/^wh_[0-9a-z]{26}$/)),
    },
    docs: {
      operationId: 'listWebhooks',
      tag: 'Webhooks',
      summary: 'List endpoints',
      responses: {
        200: {
          description: 'A page of endpoints.',
          schema: listOf(webhook, 'WebhookList', 'Endpoints, oldest first.'),
          examples: { all: { data: [webhookAnswer], hasMore: false, nextCursor: null } },
        },
      },
      errors: [],
    },
  },
  async ({ db }, { caller: { accountId }, query }) => {
    const slice = toSlice(query)
    const { before = '' } = slice
    const rest = (await listWebhookRows(db, accountId)).filter(({ id }) => id > before)
    return { status: 200, body: pageBody(rest, slice, webhookBody) }
  },
)
