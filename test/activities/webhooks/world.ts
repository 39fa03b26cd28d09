import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mkdtempSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { WorkerDeploymentVersion } from '@temporalio/common'
import { createApiKey } from '../../../db/accounts/accounts.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { connectTemporal } from '../../../workflows/client/connect.js'
import { registerSearchAttributes } from '../../../workflows/client/searchAttributes.js'
import { createGuard } from '../../../activities/webhooks/address.js'
import { runDeliveries, type Deliveries } from '../../../worker/deliveries.js'
import { loadWebhookKey } from '../../../worker/webhookKey.js'
import { startWorld, type ApiResponse, type ApiWorld } from '../../api/api.js'
import { insertTestWallet, type TestWallet } from '../../db/rows.js'
import { createHeardLog } from '../../support/heardLog.js'
import { startTemporalServer, type TemporalServer } from '../../support/temporal/temporalServer.js'
import '../../support/temporal/temporal.js'
import { workflowBundle } from '../../support/temporal/workflowBundle.js'

export type WebhookCustomer = TestWallet & { key: string }
export type DeliverySettings = Partial<Pick<Deliveries, 'retryDelayMs' | 'guard'>> & {
  /** Absent: the worker has no version. */
  version?: WorkerDeploymentVersion
}
type ListedDelivery = {
  id: string
  status: string
  attempts: { status?: number; error?: string }[]
}

export type WebhookWorld = {
  world: ApiWorld
  worker: Db
  client: Client
  server: TemporalServer
  keyFile: string
  newCustomer(): Promise<WebhookCustomer>
  post(customer: WebhookCustomer, path: string, body?: unknown): Promise<ApiResponse>
  get(customer: WebhookCustomer, path: string): Promise<ApiResponse>
  /** Creates an endpoint. @returns Its id and its secret. */
  hook(
    customer: WebhookCustomer,
    url: string,
    wishes?: object,
  ): Promise<{ id: string; secret: string }>
  deliveries(customer: WebhookCustomer, webhookId: string): Promise<ListedDelivery[]>
  /** Deliveries of the endpoint, once none of them is pending. */
  settled(customer: WebhookCustomer, webhookId: string, count: number): Promise<ListedDelivery[]>
  /** Starts the deliveries. @returns A function that stops them. */
  deliver(settings?: DeliverySettings): Promise<() => Promise<void>>
  logText(): string
  stop(): Promise<void>
}

const pinnedTo = (version: WorkerDeploymentVersion) => ({
  useWorkerVersioning: true as const,
  version,
  defaultVersioningBehavior: 'PINNED' as const,
})

/** The API and the deliveries, with their own Temporal server and database. */
export async function startWebhookWorld(): Promise<WebhookWorld> {
  const [world, server] = await Promise.all([startWorld(), startTemporalServer()])
  const folder = mkdtempSync(join(tmpdir(), 'steward-webhooks-'))
  const keyFile = join(folder, 'webhook-key')
  const client = connectTemporal(server.address, 'default')
  await registerSearchAttributes(client)
  const worker = connect(world.database.urlAs('steward_worker'), 10)
  const key = await loadWebhookKey(worker, keyFile)
  const { log, lines } = createHeardLog('worker')
  const temporal = { untilThere: () => Promise.resolve() }
  const running = new Set<() => Promise<void>>()

  const call = (method: string) => (customer: WebhookCustomer, path: string, body?: unknown) =>
    world.api.call(method, `/v1${path}`, {
      key: customer.key,
      ...(body !== undefined && { body }),
    })
  const post = call('POST')
  const get = call('GET')
  const deliveries = async (customer: WebhookCustomer, webhookId: string) => {
    const { body } = await get(customer, `/webhooks/${webhookId}/deliveries?limit=100`)
    return body.data as ListedDelivery[]
  }

  return {
    ...{ world, worker, client, server, keyFile, post, get, deliveries },
    async newCustomer() {
      const wallet = await insertTestWallet(world.database.db)
      await world.database.db('account').where({ id: wallet.accountId }).update({ rpm: 100_000 })
      const key = await createApiKey(world.database.db, wallet.accountId, { name: 'test' })
      return { ...wallet, key }
    },
    async hook(customer, url, wishes = {}) {
      const { status, body } = await post(customer, '/webhooks', { url, ...wishes })
      if (status !== 201) throw new Error(`No endpoint was made: ${JSON.stringify(body)}`)
      return { id: body.id, secret: String(body.secret) }
    },
    async settled(customer, webhookId, count) {
      for (;;) {
        const all = await deliveries(customer, webhookId)
        if (all.length >= count && all.every(({ status }) => status !== 'pending')) return all
        await sleep(50)
      }
    },
    deliver({ version, ...settings } = {}) {
      const stopping = new AbortController()
      const options = {
        ...{ namespace: 'default', workflowBundle: workflowBundle(), shutdownGraceTime: '1s' },
        ...(version && { workerDeploymentOptions: pinnedTo(version) }),
      }
      const over = runDeliveries(
        {
          ...{ db: worker, key, guard: createGuard({ isDevnet: true }), client, temporal, log },
          ...{ url: world.database.urlAs('steward_worker'), address: server.address },
          ...{ options, ...settings },
        },
        stopping.signal,
      )
      const stop = async () => {
        running.delete(stop)
        stopping.abort()
        await over
      }
      running.add(stop)
      return Promise.resolve(stop)
    },
    logText: () => lines.join(''),
    async stop() {
      for (const stop of [...running]) await stop()
      await client.connection.close()
      await worker.destroy()
      await world.stop()
      await server.stop()
      rmSync(folder, { recursive: true })
    },
  }
}
