import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount, createApiKey } from '../../../db/accounts/accounts.js'
import { endpoints } from '../../../api/routes.js'
import { publishWebhookKey } from '../../../db/webhooks/endpoints.js'
import { importWebhookKey, newWebhookKey } from '../../../activities/webhooks/secrets.js'
import { startWorld, withoutId, type ApiResponse, type ApiWorld } from '../api.js'

type TenantIds = {
  userId: string
  walletId: string
  intentId: string
  fundingId: string
  webhookId: string
  deliveryId: string
}
type Tenant = TenantIds & { key: string; accountId: string }

let world: ApiWorld
let mine: Tenant
let theirs: Tenant
const unknown: TenantIds = {
  ...{ userId: 'user-none', walletId: 'svc_wallet_00000000000000000000000000' },
  intentId: 'intent_00000000000000000000000000',
  fundingId: 'fund_00000000000000000000000000',
  webhookId: 'wh_00000000000000000000000000',
  deliveryId: 'whd_999999',
}

beforeAll(async () => {
  world = await startWorld()
  await publishWebhookKey(world.database.db, await importWebhookKey(await newWebhookKey()))
  mine = await newTenant('user-mine')
  theirs = await newTenant('user-them')
})
afterAll(() => world.stop())

async function newTenant(userId: string): Promise<Tenant> {
  const { db } = world.database
  const { id: accountId } = await createAccount(db, { name: 'test', plan: 'pro' })
  const key = await createApiKey(db, accountId, { name: 'test' })
  const post = async (path: string, body: object) =>
    (await world.api.call('POST', path, { key, body })).body.id
  const walletId = await post('/v1/wallets', { userId })
  const intentId = await post('/v1/intents', { walletId, action: 'lend', amount: 1 })
  const fundingId = await post('/v1/demo/fund', { walletId })
  const webhookId = await post('/v1/webhooks', { url: 'http://127.0.0.1:9/' })
  const deliveryId = await post(`/v1/webhooks/${webhookId}/test`, {})
  const ids = { userId, walletId, intentId, fundingId, webhookId, deliveryId }
  return { accountId, key, ...ids }
}

type TenancyCase = {
  method: string
  path: (ids: TenantIds) => string
  body?: (ids: TenantIds) => object
}
const read = (path: TenancyCase['path']): TenancyCase => ({ method: 'GET', path })
const write = (path: string, body: TenancyCase['body'] & object): TenancyCase => ({
  ...{ method: 'POST', path: () => path, body },
})

const ofWebhook =
  (rest: string) =>
  ({ webhookId }: TenantIds) =>
    `/v1/webhooks/${webhookId}${rest}`
const empty = { body: () => ({}) }

/** Every endpoint that takes something of an account. What is own answers `ok`. */
const matrix: Record<string, TenancyCase & { ok: number; isStream?: true }> = {
  'GET /wallets/:userId': { ...read(({ userId }) => `/v1/wallets/${userId}`), ok: 200 },
  'GET /balances/:walletId': { ...read(({ walletId }) => `/v1/balances/${walletId}`), ok: 200 },
  'GET /positions/:walletId': { ...read(({ walletId }) => `/v1/positions/${walletId}`), ok: 200 },
  'GET /intents/:intentId': { ...read(({ intentId }) => `/v1/intents/${intentId}`), ok: 200 },
  'GET /intents/:intentId/events': {
    ...{ ...read(({ intentId }) => `/v1/intents/${intentId}/events`), ok: 200, isStream: true },
  },
  'GET /demo/fund/:fundingId': {
    ...{ ...read(({ fundingId }) => `/v1/demo/fund/${fundingId}`), ok: 200 },
  },
  'POST /intents/:intentId/read-token': {
    ...{ method: 'POST', path: ({ intentId }) => `/v1/intents/${intentId}/read-token` },
    ok: 201,
  },
  'POST /intents': {
    ...write('/v1/intents', ({ walletId }) => ({ walletId, action: 'lend', amount: 1 })),
    ok: 201,
  },
  'POST /demo/fund': { ...write('/v1/demo/fund', ({ walletId }) => ({ walletId })), ok: 201 },
  'POST /intents/:intentId/cancel': {
    ...{ method: 'POST', path: ({ intentId }) => `/v1/intents/${intentId}/cancel` },
    ok: 200,
  },
  // Ended by the cancelling before it, so that it can be retried.
  'POST /intents/:intentId/retry': {
    ...{ method: 'POST', path: ({ intentId }) => `/v1/intents/${intentId}/retry` },
    ok: 201,
  },
  'GET /webhooks/:webhookId': { ...read(ofWebhook('')), ok: 200 },
  'GET /webhooks/:webhookId/deliveries': { ...read(ofWebhook('/deliveries')), ok: 200 },
  'POST /webhooks/:webhookId': { ...{ method: 'POST', path: ofWebhook(''), ...empty }, ok: 200 },
  'POST /webhooks/:webhookId/rotate-secret': {
    ...{ method: 'POST', path: ofWebhook('/rotate-secret'), ...empty },
    ok: 200,
  },
  'POST /webhooks/:webhookId/test': { ...{ method: 'POST', path: ofWebhook('/test') }, ok: 201 },
  'POST /webhooks/:webhookId/deliveries/:deliveryId/resend': {
    ...{ method: 'POST', ok: 200 },
    path: (ids) => ofWebhook(`/deliveries/${ids.deliveryId}/resend`)(ids),
  },
  'POST /webhooks/:webhookId/delete': {
    ...{ method: 'POST', path: ofWebhook('/delete') },
    ok: 200,
  },
}

/** Endpoints without anything of an account in their path or body; those that list are below. */
const withoutIds = [
  ...['POST /wallets', 'GET /wallets', 'GET /intents', 'GET /yields', 'GET /yields/history'],
  ...['GET /events', 'GET /webhooks', 'POST /webhooks', 'GET /dashboard/credits'],
  'GET /readyz',
]

const send = (
  { method, path, body }: TenancyCase,
  ids: TenantIds,
  as = mine,
): Promise<ApiResponse> =>
  world.api.call(method, path(ids), { key: as.key, ...(body ? { body: body(ids) } : {}) })

/** As the owner of the database sees them, newest first. */
async function ownIds(list: 'wallets' | 'intents', { accountId }: Tenant): Promise<string[]> {
  const table = world.database.db(list === 'wallets' ? 'wallet' : 'intent')
  return table.where({ account_id: accountId }).orderBy('id', 'desc').pluck<string[]>('id')
}

const headersOf = ({ headers }: ApiResponse) =>
  Object.fromEntries(
    [...headers].filter(([name]) => !/^(x-request-id|date|x-ratelimit-.*)$/.test(name)),
  )

describe('resources of another account', () => {
  test('the matrix has every endpoint', () => {
    const routes = [...endpoints.versioned, ...endpoints.unversioned]
    const names = routes.map(({ method, spec }) => `${method.toUpperCase()} ${spec.path}`)
    expect(names.sort()).toEqual([...Object.keys(matrix), ...withoutIds].sort())
  })

  test.each(Object.entries(matrix))('%s: responds as if it did not exist', async (_title, one) => {
    const foreign = await send(one, theirs)
    const missing = await send(one, unknown)
    expect(foreign.status).toBe(404)
    expect(withoutId(foreign)).toBe(withoutId(missing))
    expect(foreign.text).not.toContain(theirs.accountId)
    expect(headersOf(foreign)).toEqual(headersOf(missing))
  })

  test.each(Object.entries(matrix))('%s: exists for its owner', async (_title, one) => {
    const silent = _title === 'GET /balances/:walletId' || _title === 'GET /positions/:walletId'
    if (one.isStream) {
      const headers = { authorization: `Bearer ${theirs.key}` }
      const { status, body } = await fetch(world.api.url + one.path(theirs), { headers })
      await body?.cancel()
      expect(status).toBe(one.ok)
      return
    }
    // These read from chains, which keep silent here: found, but not answered.
    expect((await send(one, theirs, theirs)).status).toBe(silent ? 503 : one.ok)
  })

  test('lists contain only rows of the account, with every filter', async () => {
    for (const path of ['/v1/wallets', '/v1/intents']) {
      const { body } = await world.api.call('GET', path, { key: mine.key })
      expect(body.data).toHaveLength(1)
    }
    const filters = ['/v1/wallets?userId=user-them', `/v1/intents?walletId=${theirs.walletId}`]
    filters.push(`/v1/events?walletId=${theirs.walletId}`, `/v1/events?intentId=${theirs.intentId}`)
    for (const path of filters) {
      const { status, body } = await world.api.call('GET', path, { key: mine.key })
      expect([status, body.data]).toEqual([200, []])
    }
  })

  test.each(['wallets', 'intents'] as const)(
    "a cursor of another account's %s leads to the own rows only",
    async (list) => {
      const third = await newTenant(`user-third-${list}`)
      const idOf = ({ walletId, intentId }: Tenant) => (list === 'wallets' ? walletId : intentId)
      const idsFrom = async ({ key }: Tenant, cursor: string) => {
        const path = `/v1/${list}?cursor=${cursor}`
        const { status, body } = await world.api.call('GET', path, { key })
        expect(status).toBe(200)
        return (body.data as { id: string }[]).map(({ id }) => id)
      }
      // Ids sort by time: what is older than a foreign row has rows of two accounts.
      const own = await ownIds(list, theirs)
      expect(own).toContain(idOf(theirs))
      expect(await idsFrom(theirs, idOf(third))).toEqual(own)
      expect(await idsFrom(third, idOf(theirs))).toEqual([])
      expect(await idsFrom(third, idOf(mine))).toEqual([])
    },
  )
})
