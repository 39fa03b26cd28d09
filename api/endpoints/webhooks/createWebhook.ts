import { z } from 'zod'
import {
  countWebhooks,
  deleteWebhook,
  findWebhookKey,
  getWebhook,
  insertWebhook,
  listWebhooks,
  newWebhookId,
  rotateSecret,
  updateWebhook,
  type SealedSecret,
  type Webhook,
} from '../../../db/webhooks/endpoints.js'
import { lockAccount } from '../../../db/tenants/metering.js'
import { ServiceError, invalidRequest } from '../../../domain/errors.js'
import { fromPublicType, toPublicType, type PublicEventType } from '../../../domain/events.js'
import { prices } from '../../../domain/prices.js'
import { MAX_WEBHOOKS } from '../../../domain/webhooks.js'
import { createGuard } from '../../../webhooks/address.js'
import { SendFailure } from '../../../webhooks/failure.js'
import { newSecret, sealSecret } from '../../../webhooks/secrets.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noBody, noParams, noQuery } from '../../http/input.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { readRoute, writeRoute } from '../../http/route.js'
import { listOf } from '../../schemas/resources.js'
import {
  ALL_EVENTS,
  createWebhookBody,
  createWebhookRequest,
  createdWebhook,
  deletedWebhook,
  rotateSecretBody,
  rotatedAnswer,
  rotatedSecret,
  updateWebhookBody,
  webhook,
  webhookAnswer,
  webhookIdInput,
} from '../../schemas/webhooks.js'
import type { Db } from '../../../db/connection/connect.js'
import type { Services } from '../../http/services.js'

const free = { caller: apiKey({ credits: prices.webhooks }), query: noQuery }
const one = { ...free, params: z.object({ webhookId: webhookIdInput }) }
const known = {
  description: 'The endpoint.',
  schema: webhook,
  examples: { webhook: webhookAnswer },
}

const DELIVERING =
  'Events are sent as `POST` with the body that `GET /events` tells, at least once, signed as Standard Webhooks has it (`webhook-id`, `webhook-timestamp`, `webhook-signature`). Any 2xx within 5 s accepts them; redirects are not followed. What is not accepted is tried again after 5 s, 15 s, 45 s and so on, for three days; then the endpoint is disabled, as it is at once after 410. Events may come out of order and more than once: `webhook-id` is the id of the event, the same on each try.'

const createWebhook = writeRoute(
  {
    ...{ ...free, path: '/webhooks', params: noParams, body: createWebhookBody },
    docs: {
      operationId: 'createWebhook',
      tag: 'Webhooks',
      summary: 'Create an endpoint',
      description: `${DELIVERING} An account may have ${MAX_WEBHOOKS} endpoints.`,
      requests: { some: createWebhookRequest },
      responses: {
        201: {
          description: 'The endpoint. Its secret is not shown again.',
          schema: createdWebhook,
          examples: { created: { ...webhookAnswer, secret: rotatedAnswer.secret } },
        },
      },
      errors: [],
    },
  },
  async (services, { caller: { accountId }, body }, commit) => {
    await assertReachable(services, body.url)
    const id = newWebhookId()
    const { secret, sealed } = await makeSecret(services.db, { accountId, webhookId: id })
    return commit(async (trx) => {
      await lockAccount(trx, accountId)
      if ((await countWebhooks(trx, accountId)) >= MAX_WEBHOOKS) throw tooMany()
      const events = toTypes(body.events)
      const row = await insertWebhook(trx, { ...body, id, accountId, events }, sealed)
      const kept = webhookBody(row)
      return { status: 201, body: { ...kept, secret }, kept }
    })
  },
)

const listAllWebhooks = readRoute(
  {
    ...{ ...free, path: '/webhooks', params: noParams, query: z.strictObject(pageQuery) },
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
    const slice = toSlice(query, /^wh_/)
    const { before = '' } = slice
    const rest = (await listWebhooks(db, accountId)).filter(({ id }) => id > before)
    return { status: 200, body: pageBody(rest, slice, webhookBody) }
  },
)

const readWebhook = readRoute(
  {
    ...{ ...one, path: '/webhooks/:webhookId' },
    docs: {
      operationId: 'getWebhook',
      tag: 'Webhooks',
      summary: 'Get an endpoint',
      responses: { 200: known },
      errors: ['WEBHOOK_NOT_FOUND'],
    },
  },
  async ({ db }, { caller: { accountId }, params: { webhookId } }) => ({
    status: 200,
    body: webhookBody(await getWebhook(db, accountId, webhookId)),
  }),
)

const changeWebhook = writeRoute(
  {
    ...{ ...one, path: '/webhooks/:webhookId', body: updateWebhookBody },
    docs: {
      operationId: 'updateWebhook',
      tag: 'Webhooks',
      summary: 'Change, disable or enable an endpoint',
      description: 'What is left out stays as it is.',
      requests: { enable: { status: 'enabled' } },
      responses: { 200: known },
      errors: ['WEBHOOK_NOT_FOUND'],
    },
  },
  async (services, { caller: { accountId }, params: { webhookId }, body }, commit) => {
    const { url, events, description, status } = body
    if (url !== undefined) await assertReachable(services, url)
    return commit(async (trx) => {
      const change = {
        ...(url !== undefined && { url }),
        ...(events && { events: toTypes(events) }),
        ...(description !== undefined && { description }),
        ...(status && { status }),
      }
      const row = await updateWebhook(trx, { accountId, id: webhookId }, change)
      return { status: 200, body: webhookBody(row) }
    })
  },
)

const removeWebhook = writeRoute(
  {
    ...{ ...one, path: '/webhooks/:webhookId/delete', body: noBody },
    docs: {
      operationId: 'deleteWebhook',
      tag: 'Webhooks',
      summary: 'Delete an endpoint',
      responses: {
        200: {
          description: 'It is sent nothing any more.',
          schema: deletedWebhook,
          examples: { deleted: { id: webhookAnswer.id, deleted: true } },
        },
      },
      errors: ['WEBHOOK_NOT_FOUND'],
    },
  },
  async (_services, { caller: { accountId }, params: { webhookId } }, commit) =>
    commit(async (trx) => {
      await deleteWebhook(trx, accountId, webhookId)
      return { status: 200, body: { id: webhookId, deleted: true } }
    }),
)

const rotateWebhookSecret = writeRoute(
  {
    ...{ ...one, path: '/webhooks/:webhookId/rotate-secret', body: rotateSecretBody },
    docs: {
      operationId: 'rotateWebhookSecret',
      tag: 'Webhooks',
      summary: 'Make a new secret',
      description:
        'For a while both secrets sign: `webhook-signature` then has two signatures with a space between them. A secret before those ends at once.',
      requests: { day: { graceHours: 24 } },
      responses: {
        200: {
          description: 'The new secret. It is not shown again.',
          schema: rotatedSecret,
          examples: { rotated: rotatedAnswer },
        },
      },
      errors: ['WEBHOOK_NOT_FOUND'],
    },
  },
  async ({ db }, { caller: { accountId }, params: { webhookId }, body }, commit) => {
    const { secret, sealed } = await makeSecret(db, { accountId, webhookId })
    return commit(async (trx) => {
      const { graceHours } = body
      const until = await rotateSecret(trx, { accountId, id: webhookId }, { ...sealed, graceHours })
      const kept = { previousUntil: until.toISOString() }
      return { status: 200, body: { secret, ...kept }, kept }
    })
  },
)

export const webhookRoutes = [
  ...[createWebhook, listAllWebhooks, readWebhook, changeWebhook],
  ...[removeWebhook, rotateWebhookSecret],
]

/** What an endpoint is sent is decided when it is sent; here its owner hears of it in time. */
async function assertReachable({ registry, guard }: Services, url: string): Promise<void> {
  const own = guard ?? createGuard({ isDevnet: registry.network === 'devnet' })
  const rule = own.refusal(url)
  if (rule !== undefined) throw invalidRequest('url', `url ${rule}.`, 'webhook_url_refused')
  try {
    await own.pin(new URL(url))
  } catch (error) {
    if (!(error instanceof SendFailure)) throw error
    // What the name resolves to stays inside: it may tell of the network around this service.
    const message = 'url must have a name that resolves to a public address.'
    throw invalidRequest('url', message, 'webhook_url_refused')
  }
}

async function makeSecret(
  db: Db,
  owner: { accountId: string; webhookId: string },
): Promise<{ secret: string; sealed: SealedSecret }> {
  const key = await findWebhookKey(db)
  if (!key) {
    const message = 'This deployment does not deliver webhooks: its worker has no WEBHOOK_KEY_FILE.'
    throw new ServiceError('UNAVAILABLE', message)
  }
  const secret = newSecret()
  const keyId = key.id
  return { secret, sealed: { keyId, sealed: sealSecret(key, secret, { ...owner, keyId }) } }
}

const tooMany = () =>
  invalidRequest('', `An account has at most ${MAX_WEBHOOKS} endpoints.`, 'too_many_webhooks')

/** Null: all. */
function toTypes(names: (PublicEventType | typeof ALL_EVENTS)[]) {
  const types = names.flatMap((name) => (name === ALL_EVENTS ? [] : [fromPublicType(name)]))
  return types.length < names.length ? null : [...new Set(types)]
}

function webhookBody({ disabledReason, disabledAt, ...row }: Webhook) {
  return {
    id: row.id,
    url: row.url,
    events: row.events?.map(toPublicType) ?? [ALL_EVENTS],
    description: row.description,
    status: row.status,
    ...(disabledReason && { disabledReason }),
    ...(disabledAt && { disabledAt: disabledAt.toISOString() }),
    createdAt: row.createdAt.toISOString(),
  }
}
