import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { setCurrentVersion, versionOf } from '../../../workflows/client/deployment.js'
import { startReceiver } from './receiver.js'
import { startWebhookWorld, type WebhookWorld } from './world.js'

const SLOW = 60_000
const RETRY_MS = 50

let hooks: WebhookWorld

beforeAll(async () => {
  hooks = await startWebhookWorld()
})
afterAll(() => hooks?.stop())

/** A worker of a version, with the number of its failed attempts. */
async function deliverAs(buildId: string) {
  const version = versionOf(buildId)
  const failed = { count: 0 }
  const retryDelayMs = () => {
    failed.count++
    return RETRY_MS
  }
  const stop = await hooks.deliver({ retryDelayMs, version })
  return { failed, stop, setCurrent: () => setCurrentVersion(hooks.client, version) }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20)
}

describe('a delivery that has begun on another worker version', () => {
  test(
    'stays on its version while another one is current; without a worker of its version the current one sends it, once',
    async () => {
      const customer = await hooks.newCustomer()
      let status = 503
      const accepted: unknown[] = []
      const receiver = await startReceiver((_, { headers }) => {
        if (status === 200) accepted.push(headers['webhook-id'])
        return { status }
      })
      const { id } = await hooks.hook(customer, receiver.url)
      const sendTest = () => hooks.post(customer, `/webhooks/${id}/test`)

      const older = await deliverAs('older')
      await older.setCurrent()
      await sendTest()
      await until(() => older.failed.count > 0)
      const newer = await deliverAs('newer')
      await newer.setCurrent()
      const before = older.failed.count
      await until(() => older.failed.count >= before + 2)
      expect(newer.failed.count).toBe(0)

      await sendTest()
      await until(() => newer.failed.count > 0)

      await older.stop()
      status = 200
      await until(() => accepted.length > 0)
      await sendTest()
      await until(() => accepted.length > 1)
      const pending = await hooks.deliveries(customer, id)
      expect(pending.filter((one) => one.status === 'pending')).toHaveLength(1)

      await newer.stop()
      const { db } = hooks.world.database
      const longAgo = new Date(Date.now() - 3_600_000)
      await db('webhook_delivery')
        .where({ webhook_id: id, status: 'pending' })
        .update({ next_attempt_at: longAgo, dispatched_at: longAgo })
      await deliverAs('newer')
      const deliveries = await hooks.settled(customer, id, 3)
      expect(deliveries.map((one) => one.status)).toEqual(Array(3).fill('delivered'))
      expect(accepted).toHaveLength(3)
      expect(new Set(accepted).size).toBe(3)
      await receiver.stop()
    },
    SLOW,
  )
})
