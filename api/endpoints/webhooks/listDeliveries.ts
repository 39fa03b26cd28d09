import { z } from 'zod'
import {
  insertTest,
  listDeliveries,
  resend,
  unknownDelivery,
  type Delivery,
} from '../../../db/webhooks/deliveries.js'
import { getWebhook } from '../../../db/webhooks/endpoints.js'
import { invalidRequest } from '../../../domain/errors.js'
import { toEventId } from '../../../domain/eventBody.js'
import { toPublicType } from '../../../domain/events.js'
import { prices } from '../../../domain/prices.js'
import { fromDeliveryId, toDeliveryId } from '../../../domain/webhooks.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noBody, noQuery } from '../../http/input.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { readRoute, writeRoute } from '../../http/route.js'
import { listOf } from '../../schemas/resources.js'
import {
  delivery,
  deliveryAnswer,
  deliveryIdInput,
  deliveryStatus,
  webhookIdInput,
} from '../../schemas/webhooks.js'

const free = { caller: apiKey({ credits: prices.webhooks }) }
const params = z.object({ webhookId: webhookIdInput })

const listAllDeliveries = readRoute(
  {
    ...{ ...free, path: '/webhooks/:webhookId/deliveries', params },
    query: z.strictObject({
      ...pageQuery,
      status: deliveryStatus.optional().meta({ description: 'Only those with this status.' }),
    }),
    docs: {
      operationId: 'listDeliveries',
      tag: 'Webhooks',
      summary: 'List deliveries',
      description: 'What was sent to an endpoint within the last 30 days, and what it answered.',
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
    const slice = toSlice(query, /^\d{1,18}$/)
    const { status } = query
    const rows = await listDeliveries(db, { accountId, webhookId }, { status, slice })
    const named = rows.map((row) => ({ id: row.id.toString(), row }))
    return { status: 200, body: pageBody(named, slice, ({ row }) => deliveryBody(row)) }
  },
)

const ordered = { description: 'The delivery, as it begins.', schema: delivery }
const pending = { ...deliveryAnswer, status: 'pending', attempts: [] }
const due = { nextAttemptAt: deliveryAnswer.createdAt }

const testWebhook = writeRoute(
  {
    ...{ ...free, path: '/webhooks/:webhookId/test', params, query: noQuery, body: noBody },
    docs: {
      operationId: 'testWebhook',
      tag: 'Webhooks',
      summary: 'Send a test event',
      description: 'Sends `webhook.test` to this endpoint, whatever events it wants besides.',
      responses: {
        201: {
          ...ordered,
          examples: { test: { ...pending, ...due, type: 'webhook.test' } },
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

const resendDelivery = writeRoute(
  {
    ...{ ...free, path: '/webhooks/:webhookId/deliveries/:deliveryId/resend' },
    ...{ query: noQuery, body: noBody },
    params: z.object({ webhookId: webhookIdInput, deliveryId: deliveryIdInput }),
    docs: {
      operationId: 'resendDelivery',
      tag: 'Webhooks',
      summary: 'Send an event again',
      description:
        'Tries a delivery anew, whatever has become of it: with the same body and the same `webhook-id`.',
      responses: {
        200: { ...ordered, examples: { again: { ...deliveryAnswer, ...due, status: 'pending' } } },
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

export const deliveryRoutes = [listAllDeliveries, testWebhook, resendDelivery]

function deliveryBody({ nextAttemptAt, ...row }: Delivery) {
  return {
    id: toDeliveryId(row.id),
    webhookId: row.webhookId,
    eventId: toEventId(row.eventId),
    type: toPublicType(row.type),
    status: row.status,
    attempts: row.attempts,
    ...(nextAttemptAt && { nextAttemptAt: nextAttemptAt.toISOString() }),
    createdAt: row.createdAt.toISOString(),
  }
}
