import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertTestIntent, type TestWallet } from '../../db/rows.js'
import { startWorld, type ApiWorld } from '../api.js'
import { newPerson, pagesOf, type Person } from './people.js'

let world: ApiWorld
let pages: ReturnType<typeof pagesOf>
let mine: Person

beforeAll(async () => {
  world = await startWorld()
  pages = pagesOf(world)
  mine = await newPerson(world)
})
afterAll(() => world.stop())

async function newWallet(userId: string): Promise<TestWallet> {
  const { accountId, cookie } = mine
  const { body } = await pages('POST', '/wallets', { cookie, body: { userId } })
  return { id: body.id, accountId, address: String(body.address), requestId: 'req_test' }
}

describe('GET /intents.csv', () => {
  test('has the intents that the list shows by the same filters', async () => {
    const { db } = world.database
    const one = await newWallet('one')
    const kept = await insertTestIntent(db, one, 'completed')
    await insertTestIntent(db, one, 'failed')
    await insertTestIntent(db, await newWallet('other'), 'completed')
    const filter = `walletId=${one.id}&status=completed&action=lend`
    const headers = { cookie: mine.cookie }
    const url = `${world.api.url}/dashboard/api/intents.csv`
    const answer = await fetch(`${url}?${filter}`, { headers })
    const lines = (await answer.text()).trimEnd().split('\r\n')
    expect(lines.slice(1).map((line) => line.split(',')[0])).toEqual([kept])
    const list = await pages('GET', `/intents?${filter}`, { cookie: mine.cookie })
    expect((list.body.data as { id: string }[]).map(({ id }) => id)).toEqual([kept])
  })

  test('error: INVALID_REQUEST for an unknown filter', async () => {
    const { cookie } = mine
    for (const query of ['status=unknown', 'createdAfter=soon', 'limit=1']) {
      expect((await pages('GET', `/intents.csv?${query}`, { cookie })).status).toBe(400)
    }
  })
})
