import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { insertTestIntent } from '../../db/rows.js'
import { workflowBundle } from '../../support/temporal/workflowBundle.js'
import { startReceiver } from './receiver.js'
import { startWebhookWorld, type WebhookWorld } from './world.js'

const script = fileURLToPath(new URL('deliverer.ts', import.meta.url))
/** Temporal retries an activity of a killed worker after its timeout of 12 s. */
const SLOW = 180_000

let hooks: WebhookWorld
const children: ChildProcess[] = []

beforeAll(async () => {
  hooks = await startWebhookWorld()
})
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child)
})
afterAll(() => hooks?.stop())

function start(): ChildProcess {
  const { world, server, keyFile } = hooks
  const facts = [world.database.urlAs('steward_worker'), server.address, keyFile]
  const args = ['--import', 'tsx', script, ...facts, workflowBundle().codePath]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  children.push(child)
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('a worker that is killed during deliveries', () => {
  test(
    'every event arrives, and what is sent twice has the same webhook-id',
    async () => {
      const customer = await hooks.newCustomer()
      const receiver = await startReceiver(() => ({ status: 200, afterMs: 100 }))
      const { id } = await hooks.hook(customer, receiver.url)
      const first = start()
      const { db } = hooks.world.database
      const insert = async (count: number) => {
        for (let n = 0; n < count; n++) await insertTestIntent(db, customer, 'planning')
      }
      await insert(25)
      await receiver.until(10)
      await kill(first)
      await insert(5)
      start()
      const deliveries = await hooks.settled(customer, id, 60)

      const events = await db('intent_event')
        .where({ account_id: customer.accountId })
        .whereNotNull('intent_id')
        .pluck<bigint[]>('id')
      const wanted = events.map((one) => `evt_${one}`).sort()
      const ids = receiver.received.map(({ headers }) => String(headers['webhook-id']))
      expect([...new Set(ids)].sort()).toEqual(wanted)
      expect(deliveries.every(({ status }) => status === 'delivered')).toBe(true)
      await receiver.stop()
    },
    SLOW,
  )
})
