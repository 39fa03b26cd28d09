import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { requestEntry } from '../../../../api/schemas/activity.js'
import { createApiKey } from '../../../../db/accounts/accounts.js'
import { silentChains } from '../../../planning/chains.js'
import { startWorld, type ApiWorld } from '../../api.js'
import { newPerson, pagesOf } from '../people.js'

let world: ApiWorld
beforeAll(async () => {
  world = await startWorld(silentChains(), { keepsRequests: true })
})
afterAll(() => world.stop())

describe('GET /requests', () => {
  test('explains a refused call: message, fields, and the name of the key', async () => {
    const { accountId, cookie } = await newPerson(world, { role: 'viewer' })
    const listed = async () =>
      (await pagesOf(world)('GET', '/requests', { cookie })).body as unknown as {
        data: Record<string, unknown>[]
      }
    const key = await createApiKey(world.database.db, accountId, { name: 'backend' })
    const body = { walletId: 'svc_wallet_1', action: 'lend', amount: 'many' }
    const headers = { 'idempotency-key': 'order-7' }
    const refused = await world.api.call('POST', '/v1/intents', { key, body, headers })
    while ((await listed()).data.length < 1) await sleep(20)
    const { data } = await listed()
    expect(requestEntry.parse(data[0])).toEqual(data[0])
    const { details, message } = refused.body as unknown as {
      message: string
      details: { issues: { path: string; message: string }[] }
    }
    expect(data[0]).toMatchObject({
      key: { name: 'backend', prefix: key.slice(0, 11), lastFour: key.slice(-4) },
      refusal: {
        ...{ message, idempotencyKey: 'order-7' },
        issues: [{ ...details.issues[0], value: '"many"' }],
      },
    })
  })
})
