import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { publishWebhookKey } from '../../../db/webhooks/endpoints.js'
import { importWebhookKey, newWebhookKey } from '../../../activities/webhooks/secrets.js'
import {
  startEventWorld,
  type Customer,
  type EventWorld,
} from '../../api/endpoints/events/world.js'
import { createCliUser, type CliUser } from './program.js'

let events: EventWorld
let me: Customer
let user: CliUser

beforeAll(async () => {
  events = await startEventWorld({ pollMs: 200 })
  const key = await importWebhookKey(await newWebhookKey())
  await publishWebhookKey(events.world.database.db, key)
})
beforeEach(async () => {
  me = await events.newCustomer()
  user = createCliUser({ STEWARD_API_KEY: me.key, STEWARD_BASE_URL: events.world.api.url })
})
afterEach(() => {
  user.leave()
})
afterAll(() => events?.stop())

const url = 'http://127.0.0.1:9/hook'
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await user.run(['webhooks', ...args, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Record<string, unknown>
}

describe('steward webhooks', () => {
  test('creates an endpoint, shows its secret once, updates and deletes it', async () => {
    const made = await json('create', url, '--events', 'intent.completed,intent.failed')
    expect(made).toMatchObject({ url, events: ['intent.completed', 'intent.failed'] })
    const id = String(made.id)
    const secret = String(made.secret)
    expect(secret).toMatch(/^whsec_/)
    const list = await user.run(['webhooks', 'list'])
    expect(list.stdout).toContain(`${id}  enabled  intent.completed intent.failed  ${url}`)
    const got = await user.run(['webhooks', 'get', id])
    expect([got.code, got.stdout.includes(secret)]).toEqual([0, false])
    const changed = await json('update', id, '--disable', '--description', 'ledger')
    expect(changed).toMatchObject({ status: 'disabled', description: 'ledger' })
    expect(await json('update', id, '--enable')).toMatchObject({ status: 'enabled' })
    const nothing = await user.run(['webhooks', 'update', id])
    expect([nothing.code, nothing.stderr]).toEqual([
      1,
      expect.stringContaining('Nothing to change'),
    ])
    const rotated = await json('rotate-secret', id, '--grace-hours', '1')
    expect(rotated.secret).not.toBe(secret)
    expect(await json('delete', id)).toMatchObject({ id, deleted: true })
    expect((await user.run(['webhooks', 'get', id])).code).toBe(2)
  }, 120_000)

  test('sends a test event and lists the delivery', async () => {
    const { id } = await json('create', url)
    const made = await json('test', String(id))
    expect(made).toMatchObject({ webhookId: id, type: 'webhook.test', status: 'pending' })
    const triggered = await user.run(['trigger', 'webhook.test', '--webhook', String(id)])
    expect([triggered.code, triggered.stdout]).toEqual([0, expect.stringContaining('whd_')])
    const none = await user.run(['trigger', 'webhook.test'])
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('--webhook')])
    const sent = (await json('deliveries', String(id), '--all')) as { data: { id: string }[] }
    expect(sent.data.map((one) => one.id)).toContain(made.id)
  }, 120_000)

  test('error: a private address is rejected', async () => {
    const { code, stderr } = await user.run(['webhooks', 'create', 'http://10.0.0.1/hook'])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/INVALID_REQUEST[\s\S]*req_/)])
  })
})
