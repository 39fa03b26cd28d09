import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { setCompleted } from '../../db/intents/status.js'
import { insertTestIntent } from '../db/rows.js'
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

describe('webhooks', () => {
  test('what happens to an intent arrives, signed, as it is told on /v1/events', async () => {
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
})
