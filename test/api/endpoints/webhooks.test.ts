import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAccount, createApiKey } from '../../../db/accounts/accounts.js'
import { publishWebhookKey } from '../../../db/webhooks/endpoints.js'
import { importWebhookKey, newWebhookKey } from '../../../activities/webhooks/secrets.js'
import { startWorld, type ApiWorld } from '../api.js'

let world: ApiWorld
let key: string
let accountId: string

beforeAll(async () => {
  world = await startWorld()
})
beforeEach(async () => {
  const { db } = world.database
  accountId = (await createAccount(db, { name: 'test', plan: 'pro' })).id
  key = await createApiKey(db, accountId, { name: 'test' })
})
afterAll(() => world?.stop())

const call = (method: string, path: string, body?: unknown, as = key) =>
  world.api.call(method, `/v1/webhooks${path}`, { key: as, ...(body !== undefined && { body }) })
const url = 'http://127.0.0.1:9/hook'

describe('webhook endpoints', () => {
  test('error: UNAVAILABLE while no worker has published the key that seals secrets', async () => {
    const { body } = await call('POST', '', { url })
    expect(body.error).toBe('UNAVAILABLE')
    await publishWebhookKey(world.database.db, await importWebhookKey(await newWebhookKey()))
    expect(await call('POST', '', { url })).toMatchObject({ status: 201 })
  })

  test('created, listed, read, changed, disabled and deleted; the secret is shown once', async () => {
    const made = await call('POST', '', { url, description: 'mine' })
    const { secret, ...shown } = made.body
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(shown).toMatchObject({ url, events: ['*'], description: 'mine', status: 'enabled' })
    const { id } = shown
    expect((await call('GET', `/${id}`)).body).toEqual(shown)
    expect((await call('GET', '')).body.data).toEqual([shown])
    expect((await call('POST', `/${id}`, {})).body).toEqual(shown)

    const events = ['intent.completed', 'wallet.created']
    const changed = await call('POST', `/${id}`, { events, status: 'disabled' })
    expect(changed.body).toMatchObject({ events, status: 'disabled', disabledReason: 'by_account' })
    const enabled = await call('POST', `/${id}`, { status: 'enabled' })
    expect(enabled.body).toEqual({ ...shown, events })

    expect((await call('POST', `/${id}/delete`)).body).toEqual({ id, deleted: true })
    for (const [method, path] of [
      ...([
        ['GET', ''],
        ['POST', ''],
        ['POST', '/delete'],
        ['POST', '/test'],
      ] as const),
      ...([
        ['GET', '/deliveries'],
        ['POST', '/rotate-secret'],
      ] as const),
    ]) {
      const { body } = await call(method, `/${id}${path}`, method === 'POST' ? {} : undefined)
      expect(body.error).toBe('WEBHOOK_NOT_FOUND')
    }
  })

  test('bodies of optional fields may be absent, with their content type', async () => {
    const { body: made } = await call('POST', '', { url })
    for (const path of ['rotate-secret', 'test', 'delete']) {
      expect((await call('POST', `/${made.id}/${path}`)).status).toBeLessThan(300)
    }
    const { body } = await call('POST', '')
    expect(body.error).toBe('INVALID_REQUEST')
  })

  test('an Idempotency-Key makes one endpoint; the second response has no secret', async () => {
    const request = { key, body: { url }, headers: { 'idempotency-key': 'once' } }
    const first = await world.api.call('POST', '/v1/webhooks', request)
    const second = await world.api.call('POST', '/v1/webhooks', request)
    const { secret, ...rest } = first.body
    expect(secret).toBeDefined()
    expect(second.body).toEqual(rest)
    expect((await call('GET', '')).body.data).toHaveLength(1)
  })

  test.each([
    ...['ftp://example.com/', 'https://user:word@example.com/', 'http://10.0.0.1/', 'nowhere'],
    ...[
      'http://169.254.169.254/latest/meta-data',
      'https://[::ffff:10.0.0.1]/',
      'http://[fe80::1]/',
    ],
  ])('error: INVALID_REQUEST for the url %s, made or changed', async (refused) => {
    const { body: made } = await call('POST', '', { url })
    const answers = [
      await call('POST', '', { url: refused }),
      await call('POST', `/${made.id}`, { url: refused }),
    ]
    for (const { body } of answers) {
      expect(body.error).toBe('INVALID_REQUEST')
      expect(body.details.reason).toBe('webhook_url_refused')
    }
  })

  test('error: INVALID_REQUEST for the twenty-first endpoint, also under concurrent calls', async () => {
    const answers = await Promise.all(Array.from({ length: 25 }, () => call('POST', '', { url })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
    const refused = answers.filter(({ status }) => status === 400)
    expect(refused.map(({ body }) => body.details.reason)).toEqual(
      Array.from({ length: 5 }, () => 'too_many_webhooks'),
    )
  })

  test('another account does not find it, and a read-only key cannot change it', async () => {
    const { body: made } = await call('POST', '', { url })
    const { body: delivery } = await call('POST', `/${made.id}/test`)
    const stranger = await world.newKey()
    for (const [method, path] of [
      ...([
        ['GET', ''],
        ['POST', ''],
        ['POST', '/delete'],
        ['POST', '/test'],
      ] as const),
      ...([
        ['GET', '/deliveries'],
        ['POST', '/rotate-secret'],
      ] as const),
      ['POST', `/deliveries/${delivery.id}/resend`] as const,
    ]) {
      const sent = method === 'POST' ? {} : undefined
      const { body } = await call(method, `/${made.id}${path}`, sent, stranger)
      expect(body.error).toBe('WEBHOOK_NOT_FOUND')
    }
    const reader = await createApiKey(world.database.db, accountId, {
      ...{ name: 'reader', scopes: ['read'] },
    })
    const refused = await call('POST', '', { url }, reader)
    expect(refused.body.error).toBe('FORBIDDEN')
    expect((await call('GET', '', undefined, reader)).body.data).toHaveLength(1)
  })

  test('deliveries page by page, newest first, and by status', async () => {
    const { body: made } = await call('POST', '', { url })
    for (let n = 0; n < 3; n++) await call('POST', `/${made.id}/test`)
    const all = await call('GET', `/${made.id}/deliveries`)
    const first = await call('GET', `/${made.id}/deliveries?limit=2`)
    const cursor = String(first.body.nextCursor)
    const rest = await call('GET', `/${made.id}/deliveries?limit=2&cursor=${cursor}`)
    expect([...(first.body.data as []), ...(rest.body.data as [])]).toEqual(all.body.data)
    expect(all.body.data).toMatchObject([{ status: 'pending', type: 'webhook.test' }, {}, {}])
    const failed = await call('GET', `/${made.id}/deliveries?status=failed`)
    expect(failed.body.data).toEqual([])
  })
})
