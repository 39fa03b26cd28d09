import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createApiKey } from '../../../db/accounts/accounts.js'
import { closedUrl } from '../../planning/chains.js'
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
})
beforeEach(async () => {
  me = await events.newCustomer()
  user = createCliUser({ STEWARD_API_KEY: me.key, STEWARD_BASE_URL: events.world.api.url })
})
afterEach(() => user.leave())
afterAll(() => events?.stop())

const db = () => events.world.database.db

describe('steward doctor', () => {
  const checksOf = (text: string) => {
    const { checks } = JSON.parse(text) as { checks: { check: string; outcome: string }[] }
    return Object.fromEntries(checks.map(({ check, outcome }) => [check, outcome]))
  }

  test('reports a healthy service, with a warning for the missing Temporal', async () => {
    const { code, stdout } = await user.run(['doctor', '--json'])
    const ok = ['program', 'address', 'reachable', 'clock', 'key', 'scope', 'network', 'stream']
    const wanted = Object.fromEntries(ok.map((check) => [check, 'ok']))
    expect([code, checksOf(stdout)]).toEqual([0, { ...wanted, ready: 'warning' }])
    expect(await db()('intent').where({ wallet_id: me.id })).toEqual([])
  })

  test('reports a read-only key and an invalid key', async () => {
    const reading = { name: 'reads', scopes: ['read' as const] }
    const key = await createApiKey(db(), me.accountId, reading)
    const reader = await user.run(['doctor', '--json'], { env: { STEWARD_API_KEY: key } })
    expect([reader.code, checksOf(reader.stdout)]).toMatchObject([0, { scope: 'warning' }])
    const env = { STEWARD_API_KEY: `svc_sk_${'ef'.repeat(32)}` }
    const invalid = await user.run(['doctor'], { env })
    expect([invalid.code, invalid.stdout]).toEqual([
      2,
      expect.stringMatching(/✗ key +is not valid/),
    ])
    expect(invalid.stdout).not.toContain('scope')
  })

  test('reports a foreign server, a wrong clock and an unreachable address', async () => {
    const state = { ready: true, postgres: true, signer: true, temporal: true, degraded: false }
    const date = new Date(Date.now() - 600_000).toUTCString()
    const front = createServer((request, response) => {
      const isReady = request.url === '/readyz'
      response.writeHead(isReady ? 200 : 404, { date }).end(isReady ? JSON.stringify(state) : '')
    }).listen(0, '127.0.0.1')
    await once(front, 'listening')
    const { port } = front.address() as AddressInfo
    const STEWARD_BASE_URL = `http://127.0.0.1:${port}`
    const slow = await user.run(['doctor', '--json'], { env: { STEWARD_BASE_URL } })
    expect([slow.code, checksOf(slow.stdout)]).toMatchObject([
      2,
      { clock: 'warning', key: 'failed' },
    ])
    const base = { STEWARD_BASE_URL: `${STEWARD_BASE_URL}/other/v1` }
    const other = await user.run(['doctor', '--json'], { env: base })
    front.close()
    expect([other.code, checksOf(other.stdout)]).toMatchObject([5, { reachable: 'failed' }])
    const away = await user.run(['doctor', '--json'], { env: { STEWARD_BASE_URL: closedUrl } })
    expect([away.code, checksOf(away.stdout)]).toMatchObject([5, { reachable: 'failed' }])
  })
})
