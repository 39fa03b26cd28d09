import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { once } from 'node:events'
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Client } from '@temporalio/client'
import { connectTemporal, pingTemporal } from '../../../workflows/client/connect.js'
import { createProgressReader } from '../../../workflows/client/progress.js'
import { startFunding } from '../../../workflows/client/start.js'
import type { StoredFunding } from '../../../db/intents/fundings.js'

const DEADLINE_EXCEEDED = 4
const funding = { id: 'fnd_1', accountId: 'acc_1', walletId: 'wal_1' } as unknown as StoredFunding

/** A server that hangs: accepts calls and never answers. */
let server: Http2Server
const sessions: ServerHttp2Session[] = []
/** Namespaces of the received calls. */
const namespaces = new Set<unknown>()
let address: string
let client: Client

beforeAll(async () => {
  server = createServer().listen(0, '127.0.0.1')
  server.on('session', (session) => sessions.push(session))
  server.on('stream', (_stream, headers) => namespaces.add(headers['temporal-namespace']))
  await once(server, 'listening')
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  client = connectTemporal(address, 'default')
})
afterAll(async () => {
  await client?.connection.close()
  for (const session of sessions) session.destroy()
  server?.close()
})

describe('a client of a server that hangs', () => {
  test('ends a ping, a start and a query by a timeout', async () => {
    const start = startFunding(client, { funding, tier: 'free' })
    await Promise.all([
      expect(pingTemporal(client)).rejects.toMatchObject({ code: DEADLINE_EXCEEDED }),
      expect(start).rejects.toMatchObject({ cause: { code: DEADLINE_EXCEEDED } }),
      expect(createProgressReader(client)('int_1')).resolves.toBeUndefined(),
    ])
  })
})

describe('the calls of the API', () => {
  test('contain the namespace', async () => {
    const own = connectTemporal(address, 'some-namespace')
    await Promise.all([
      startFunding(own, { funding, tier: 'free' }).catch(() => undefined),
      createProgressReader(own)('int_1'),
      pingTemporal(own).catch(() => undefined),
    ])
    expect([...namespaces]).toEqual(['default', 'some-namespace'])
    await own.connection.close()
  })
})
