import { lockAccount } from '../../../db/usage/metering.js'
import { countWebhooks, insertWebhook, newWebhookId } from '../../../db/webhooks/endpoints.js'
import { invalidRequest } from '../../../domain/errors.js'
import { MAX_WEBHOOKS } from '../../../domain/events/webhooks.js'
import { noParams } from '../../http/input.js'
import { writeRoute } from '../../http/route.js'
import {
  createWebhookBody,
  createWebhookRequest,
  createdWebhook,
  rotatedAnswer,
  webhookAnswer,
} from '../../schemas/webhooks.js'
import { assertReachable } from './assertReachable.js'
import { createSealedSecret } from './createSealedSecret.js'
import { toEventTypes, webhookBody } from './webhookBody.js'
import { webhookCall } from './webhookSpec.js'

const DELIVERY =
  'Creates a webhook endpoint. Events are sent as `POST` with the body of `GET /events`, at least once, signed by Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`). Any 2xx within 5 s accepts a delivery. Redirects are not followed. A failed delivery is retried after 5 s, 15 s, 45 s and so on for three days. Then the endpoint is disabled. A 410 disables it at once. Events may arrive out of order and more than once: `webhook-id` is the id of the event, the same for each attempt.'

export const createWebhook = writeRoute(
  {
    ...{ ...webhookCall, path: '/webhooks', params: noParams, body: createWebhookBody },
    docs: {
      operationId: 'createWebhook',
      tag: 'Webhooks',
      summary: 'Create an endpoint',
      description: `${DELIVERY} An account may have ${MAX_WEBHOOKS} endpoints.`,
      requests: { some: createWebhookRequest },
      responses: {
        201: {
          description: 'The endpoint. Its secret is not shown again.',
          schema: createdWebhook,
          examples: { created: { ...webhookAnswer, secret: rotatedAnswer.secret } },
          ids: { webhookId: 'id' },
        },
      },
      errors: [],
    },
  },
  async (services, { caller: { accountId }, body }, commit) => {
    await assertReachable(services, body.url)
    const id = newWebhookId()
    const { secret, sealed } = await createSealedSecret(services.db, { accountId, webhookId: id })
    return commit(async (trx) => {
      await lockAccount(trx, accountId)
      if ((await countWebhooks(trx, accountId)) >= MAX_WEBHOOKS) throw tooMany()
      const events = toEventTypes(body.events)
      const row = await insertWebhook(trx, { ...body, id, accountId, events }, sealed)
      const kept = webhookBody(row)
      return { status: 201, body: { ...kept, secret }, kept }
    })
  },
)

const tooMany = () =>
  invalidRequest(
    '',
    `An account has at most ${MAX_WEBHOOKS} endpoints. Delete one first.`,
    'too_many_webhooks',
  )
