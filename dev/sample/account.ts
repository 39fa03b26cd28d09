import { createServer } from 'node:http'
import { once } from 'node:events'
import { issueApiKey } from '../../db/accounts/accounts.js'
import type { AddressInfo } from 'node:net'
import type { Db } from '../../db/client/connect.js'
import type { Steward } from '@steward/sdk'

const DAY_MS = 86_400_000

/** Creates keys in every state, before the month passes. Returns the one that the sample's program uses. */
export async function createKeys(db: Db, accountId: string): Promise<string> {
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS)
  const { key } = await issueApiKey(db, accountId, { name: 'Mobile backend' })
  await issueApiKey(db, accountId, {
    ...{ name: 'Monthly report', scopes: ['read'], expiresAt: inDays(35) },
  })
  await issueApiKey(db, accountId, { name: 'Trial of a partner', expiresAt: inDays(14) })
  const { stored } = await issueApiKey(db, accountId, { name: 'Old laptop' })
  await db('api_key')
    .where({ id: stored.id })
    .update({ revoked_at: inDays(0) })
  return key
}

/** Answers the deliveries of the sample's webhooks: 200, but 500 on `/broken`. */
export async function startReceiver(): Promise<{ url: string; stop(): void }> {
  const server = createServer((request, response) => {
    const isBroken = request.url === '/broken'
    request.resume().on('end', () => {
      response.writeHead(isBroken ? 500 : 200).end(isBroken ? 'out of order' : 'stored')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** An endpoint that receives all events, and one that fails. Returns their ids. */
export async function createWebhooks({ webhooks }: Steward, url: string): Promise<string[]> {
  const all = await webhooks.create({ url: `${url}/events`, description: 'Ledger service' })
  const events = ['intent.failed', 'wallet.funded']
  const broken = await webhooks.create({
    ...{ url: `${url}/broken`, description: 'Alerts of the old office', events },
  })
  return [all.id, broken.id]
}
