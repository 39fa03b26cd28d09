import { createApiKey } from '../../../../db/accounts/accounts.js'
import { connect, type Db } from '../../../../db/client/connect.js'
import {
  forgetEvents,
  insertTestIntent,
  insertTestWallet,
  type TestWallet,
} from '../../../db/rows.js'
import { startWorld, type ApiWorld } from '../../api.js'
import { openEvents, type EventClient } from '../../eventClient.js'
import type { StreamLimits } from '../../../../api/http/streaming/stream.js'

export type Customer = TestWallet & { key: string }
type Wishes = { key?: string; lastEventId?: string; url?: string }

export type EventWorld = {
  world: ApiWorld
  /** The connection that changes intents. */
  worker: Db
  newCustomer(): Promise<Customer>
  /** An intent with a plan: two events. */
  newIntent(customer: Customer): Promise<string>
  open(path: string, wishes?: Wishes): Promise<EventClient>
  /** Ends what was opened. */
  closeAll(): void
  stop(): Promise<void>
}

/** The API with customers who follow what happens. */
export async function startEventWorld(streamLimits: Partial<StreamLimits>): Promise<EventWorld> {
  const world = await startWorld(undefined, { streamLimits })
  const { db, urlAs } = world.database
  const worker = connect(urlAs('steward_worker'), 6)
  let clients: EventClient[] = []
  return {
    world,
    worker,
    async newCustomer() {
      const wallet = await insertTestWallet(db)
      await forgetEvents(db, wallet.accountId)
      await db('account').where({ id: wallet.accountId }).update({ rpm: 100_000 })
      const key = await createApiKey(db, wallet.accountId, { name: 'test' })
      return { ...wallet, key }
    },
    newIntent: (customer) => insertTestIntent(db, customer, 'planning'),
    async open(path, { key, lastEventId, url = world.api.url } = {}) {
      const headers = lastEventId ? { 'last-event-id': lastEventId } : {}
      const client = await openEvents(url + path, { ...(key && { key }), headers })
      clients.push(client)
      return client
    },
    closeAll() {
      for (const client of clients) client.close()
      clients = []
    },
    async stop() {
      await worker.destroy()
      await world.stop()
    },
  }
}
