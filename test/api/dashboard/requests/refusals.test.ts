import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { requestEntry } from '../../../../api/schemas/activity.js'
import { createApiKey } from '../../../../db/accounts/accounts.js'
import { silentChains } from '../../../planning/chains.js'
import { startWorld, type ApiWorld } from '../../api.js'
import { connectClient } from '../../mcp/client.js'
import { newPerson, pagesOf, type Person } from '../people.js'

let world: ApiWorld
beforeAll(async () => {
  world = await startWorld(silentChains(), { keepsRequests: true })
})
afterAll(() => world.stop())

/** The logged requests of a member's account, once there is one of the path. */
async function untilLogged({ cookie }: Pick<Person, 'cookie'>, path: string) {
  for (;;) {
    const { body } = await pagesOf(world)('GET', '/requests', { cookie })
    const { data } = body as unknown as { data: Record<string, unknown>[] }
    const logged = data.find((one) => one.path === path)
    if (logged) return logged
    await sleep(20)
  }
}

describe('GET /requests', () => {
  test('explains a refused call: message, fields, and the name of the key', async () => {
    const person = await newPerson(world, { role: 'viewer' })
    const key = await createApiKey(world.database.db, person.accountId, { name: 'backend' })
    const body = { walletId: 'svc_wallet_1', action: 'lend', amount: 'many' }
    const headers = { 'idempotency-key': 'order-7' }
    const refused = await world.api.call('POST', '/v1/intents', { key, body, headers })
    const logged = await untilLogged(person, '/v1/intents')
    expect(requestEntry.parse(logged)).toEqual(logged)
    const { details, message } = refused.body as unknown as {
      message: string
      details: { issues: { path: string; message: string }[] }
    }
    expect(logged).toMatchObject({
      key: { name: 'backend', prefix: key.slice(0, 11), lastFour: key.slice(-4) },
      refusal: {
        ...{ message, idempotencyKey: 'order-7' },
        issues: [{ ...details.issues[0], value: '"many"' }],
      },
    })
  })

  test('explains a refused call of a tool, and redacts the value of an argument', async () => {
    const person = await newPerson(world, { role: 'viewer' })
    const key = await createApiKey(world.database.db, person.accountId, { name: 'assistant' })
    const mcp = await connectClient(world.api.url, key)
    const args = { walletId: 'svc_wallet_1', action: 'lend', amount: 1, chain: key }
    const { body } = await mcp.call('preview_intent', args)
    await mcp.client.close()
    const logged = await untilLogged(person, '/mcp preview_intent')
    expect(requestEntry.parse(logged)).toEqual(logged)
    expect(logged).toMatchObject({
      ...{ code: 'INVALID_REQUEST', key: { name: 'assistant' } },
      refusal: {
        message: body.message,
        issues: [{ path: 'chain', message: body.message, value: '[redacted]' }],
      },
    })
    expect(JSON.stringify(logged)).not.toContain(key)
  })
})
