import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Webhook } from 'standardwebhooks'
import { insertTestIntent, setCompleted } from '../../db/rows.js'
import { startReceiver, type Receiver } from './receiver.js'
import { startWebhookWorld, type WebhookWorld } from './world.js'

let hooks: WebhookWorld
const receivers: Receiver[] = []
const receive = async (...wishes: Parameters<typeof startReceiver>) => {
  const receiver = await startReceiver(...wishes)
  receivers.push(receiver)
  return receiver
}

beforeAll(async () => {
  hooks = await startWebhookWorld()
  await hooks.deliver({ retryDelayMs: () => 20 })
})
afterAll(() => hooks?.stop())
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop()
})

const headersOf = ({ headers }: { headers: object }) => headers as Record<string, string>

/** A workflow's history as text, with decoded payloads. */
const readable = (history: object) =>
  JSON.stringify(history, (name, value: unknown) =>
    name === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value,
  )

describe('webhooks', () => {
  test('deliver the events of an intent, signed, equal to those of /v1/events', async () => {
    const customer = await hooks.newCustomer()
    const receiver = await receive()
    const { secret } = await hooks.hook(customer, receiver.url, { events: ['intent.completed'] })
    const id = await insertTestIntent(hooks.world.database.db, customer, 'executing')
    await setCompleted(hooks.worker, id)

    const [first] = await receiver.until(1)
    if (!first) throw new Error('nothing')
    expect(new Webhook(secret).verify(first.text, headersOf(first))).toEqual(first.body)
    const { body } = await hooks.get(customer, '/events?type=intent.completed')
    expect([first.body]).toEqual(body.data)
    expect(first.body).toMatchObject({ type: 'intent.completed', intentId: id })
    expect(first.headers['webhook-id']).toBe(first.body.id)
  })

  test('retry until the endpoint accepts, and not after that', async () => {
    const customer = await hooks.newCustomer()
    const receiver = await receive((count) => ({
      status: count <= 2 ? 503 : 200,
      text: 'so it goes',
    }))
    const { id, secret } = await hooks.hook(customer, receiver.url)
    await hooks.post(customer, `/webhooks/${id}/test`)
    const [delivery] = await hooks.settled(customer, id, 1)

    expect(delivery).toMatchObject({ status: 'delivered', type: 'webhook.test' })
    expect(delivery?.attempts.map(({ status }) => status)).toEqual([503, 503, 200])
    expect(delivery?.attempts[2]).toMatchObject({ body: 'so it goes' })
    expect(receiver.received).toHaveLength(3)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1)
    for (const one of receiver.received) new Webhook(secret).verify(one.text, headersOf(one))
  })

  test('send only subscribed events, and none of another account', async () => {
    const [mine, other] = [await hooks.newCustomer(), await hooks.newCustomer()]
    const [all, some] = [await receive(), await receive()]
    const wide = await hooks.hook(mine, all.url)
    const narrow = await hooks.hook(mine, some.url, { events: ['intent.planned'] })
    await insertTestIntent(hooks.world.database.db, other, 'planning')
    const id = await insertTestIntent(hooks.world.database.db, mine, 'planning')

    await Promise.all([hooks.settled(mine, wide.id, 2), hooks.settled(mine, narrow.id, 1)])
    const typesOf = (receiver: Receiver) => receiver.received.map(({ body }) => body.type).sort()
    expect(typesOf(all)).toEqual(['intent.created', 'intent.planned'])
    expect(typesOf(some)).toEqual(['intent.planned'])
    expect(all.received.every(({ body }) => JSON.stringify(body).includes(id))).toBe(true)
  })

  test('410 ends the delivery and disables the endpoint with an event, until it is enabled again', async () => {
    const customer = await hooks.newCustomer()
    const receiver = await receive((count) => ({ status: count === 1 ? 410 : 204 }))
    const { id } = await hooks.hook(customer, receiver.url)
    await hooks.post(customer, `/webhooks/${id}/test`)
    const [delivery] = await hooks.settled(customer, id, 1)
    expect(delivery).toMatchObject({ status: 'failed', attempts: [{ status: 410 }] })

    const { body } = await hooks.get(customer, `/webhooks/${id}`)
    expect(body).toMatchObject({ status: 'disabled', disabledReason: 'gone' })
    const { body: list } = await hooks.get(customer, '/events?type=webhook.disabled')
    expect(list.data).toMatchObject([{ data: { webhookId: id, reason: 'gone' } }])
    const refused = await hooks.post(customer, `/webhooks/${id}/test`)
    expect(refused.body.details).toMatchObject({ reason: 'webhook_disabled' })

    await hooks.post(customer, `/webhooks/${id}`, { status: 'enabled' })
    await hooks.post(customer, `/webhooks/${id}/test`)
    await hooks.settled(customer, id, 2)
    expect(receiver.received).toHaveLength(2)
  })

  test('disable an endpoint that has accepted nothing for three days', async () => {
    const customer = await hooks.newCustomer()
    const receiver = await receive((count) => ({ status: 500, afterMs: count === 1 ? 300 : 0 }))
    const { id } = await hooks.hook(customer, receiver.url)
    await hooks.post(customer, `/webhooks/${id}/test`)
    await receiver.until(1)
    await hooks.world.database
      .db('webhook_delivery')
      .where({ webhook_id: id })
      .update({ run_since: hooks.world.database.db.raw(`now() - interval '73 hours'`) })
    await hooks.settled(customer, id, 1)
    const { body } = await hooks.get(customer, `/webhooks/${id}`)
    expect(body).toMatchObject({ status: 'disabled', disabledReason: 'failing' })
  })

  test('both secrets verify during a rotation, and a repeated request does not return the secret', async () => {
    const customer = await hooks.newCustomer()
    const receiver = await receive()
    const { id, secret } = await hooks.hook(customer, receiver.url)
    const request = { key: customer.key, headers: { 'idempotency-key': 'rotate' }, body: {} }
    const path = `/v1/webhooks/${id}/rotate-secret`
    const rotated = await hooks.world.api.call('POST', path, request)
    const again = await hooks.world.api.call('POST', path, request)
    expect(Object.keys(rotated.body).sort()).toEqual(['previousUntil', 'secret'])
    expect(Object.keys(again.body)).toEqual(['previousUntil'])

    await hooks.post(customer, `/webhooks/${id}/test`)
    const [first] = await receiver.until(1)
    if (!first) throw new Error('nothing')
    for (const one of [secret, String(rotated.body.secret)]) {
      expect(new Webhook(one).verify(first.text, headersOf(first))).toEqual(first.body)
    }
    await hooks.post(customer, `/webhooks/${id}/rotate-secret`, { graceHours: 0 })
    await hooks.post(customer, `/webhooks/${id}/test`)
    const [, second] = await receiver.until(2)
    if (!second) throw new Error('nothing')
    expect(() => new Webhook(secret).verify(second.text, headersOf(second))).toThrow()
    const { rows } = await hooks.world.database.db.raw<{ rows: { text: string }[] }>(
      `select string_agg(body, '') || (select string_agg(s::text, '') from webhook_secret s) as text
       from idempotency_key`,
    )
    expect(rows[0]?.text).not.toContain('whsec_')
    expect(rows[0]?.text).not.toContain(Buffer.from(secret.slice(6), 'base64').toString('hex'))
  })

  test('a redelivery has the same webhook-id', async () => {
    const customer = await hooks.newCustomer()
    const receiver = await receive()
    const { id } = await hooks.hook(customer, receiver.url)
    await hooks.post(customer, `/webhooks/${id}/test`)
    const [delivery] = await hooks.settled(customer, id, 1)
    await hooks.post(customer, `/webhooks/${id}/deliveries/${delivery?.id}/resend`)
    const [first, second] = await receiver.until(2)
    expect(second?.text).toBe(first?.text)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    const [resent] = await hooks.settled(customer, id, 1)
    expect(resent?.attempts).toHaveLength(2)
    const unknown = await hooks.post(customer, `/webhooks/${id}/deliveries/whd_999999/resend`)
    expect(unknown.body.error).toBe('DELIVERY_NOT_FOUND')
  })

  test('do not follow redirects', async () => {
    const customer = await hooks.newCustomer()
    const target = await receive()
    const receiver = await receive(() => ({ status: 307, headers: { location: target.url } }))
    const { id } = await hooks.hook(customer, receiver.url)
    await hooks.post(customer, `/webhooks/${id}/test`)
    // The second attempt begins after the end of the first one.
    await receiver.until(2)
    await hooks.post(customer, `/webhooks/${id}/delete`)
    expect(target.received).toHaveLength(0)
  })

  test('a hanging endpoint does not delay another one', async () => {
    const customer = await hooks.newCustomer()
    const silent = await receive(() => ({ status: 200, afterMs: 60_000 }))
    const quick = await receive()
    const held = await hooks.hook(customer, silent.url, { events: ['intent.created'] })
    const { id } = await hooks.hook(customer, quick.url, { events: ['intent.created'] })
    const { db } = hooks.world.database
    for (let n = 0; n < 30; n++) await insertTestIntent(db, customer, 'pending')
    await hooks.settled(customer, id, 30)
    await hooks.post(customer, `/webhooks/${held.id}/delete`)
    expect(silent.mostOpen()).toBeLessThanOrEqual(25)
    expect(new Set(quick.received.map(({ body }) => body.id)).size).toBe(30)
  })

  test('neither the log nor the workflow history contains secrets, URLs or bodies', async () => {
    const customer = await hooks.newCustomer()
    const receiver = await receive((count) => ({
      status: count === 1 ? 500 : 200,
      text: 'canary-answer',
    }))
    const { id, secret } = await hooks.hook(customer, `${receiver.url}?token=canary-url`)
    await hooks.post(customer, `/webhooks/${id}/test`)
    const [delivery] = await hooks.settled(customer, id, 1)
    const workflow = hooks.client.workflow.getHandle(`whd_${delivery?.id.slice(4)}_1`)
    const texts = [
      hooks.logText(),
      hooks.world.api.logText(),
      readable(await workflow.fetchHistory()),
    ]
    expect(texts[2]).toContain('retryInMs')
    for (const text of texts) {
      for (const canary of ['canary-url', 'canary-answer', secret, 'webhook.test']) {
        expect(text).not.toContain(canary)
      }
    }
  })
})
