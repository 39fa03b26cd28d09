import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentChains } from '../../../planning/chains.js'
import { startApi, startWorld, type ApiWorld, type TestApi } from '../../api.js'
import { PASSWORD, newPerson, pagesOf } from '../../dashboard/people.js'

let world: ApiWorld
/** Every address is over its limit from the first request on. */
let strict: TestApi

beforeAll(async () => {
  world = await startWorld()
  strict = await newApi(0)
})
afterAll(async () => {
  await strict.stop()
  await world.stop()
})

const newApi = (authFailureLimit: number) =>
  startApi({ db: world.db, temporal: world.temporal.client, ...silentChains(), authFailureLimit })

const statusOf = async (path: string, request: object) =>
  (await strict.call('GET', path, request)).status
const creditsBy = (key: string) => statusOf('/dashboard/credits', { key })

describe('guardAddress, at an address over its limit', () => {
  test('a valid key passes, though this process has not seen it before', async () => {
    expect(await creditsBy(await world.newKey())).toBe(200)
    expect(await creditsBy('svc_sk_123')).toBe(429)
  })

  test('a key falls under the limit as soon as it is revoked', async () => {
    const key = await world.newKey()
    expect(await creditsBy(key)).toBe(200)
    const key_hash = createHash('sha256').update(key).digest()
    await world.database.db('api_key').where({ key_hash }).update({ revoked_at: new Date() })
    expect(await creditsBy(key)).toBe(429)
  })

  test('a session passes until it ends', async () => {
    const { cookie, userId } = await newPerson(world)
    const read = () => statusOf('/dashboard/api/session', { headers: { cookie } })
    expect(await read()).toBe(200)
    await world.database
      .db('user_session')
      .where({ user_id: userId })
      .update({ ended_at: new Date() })
    expect(await read()).toBe(429)
  })
})

describe('POST /session, at an address over its limit', () => {
  test('a user who has signed in there before signs in again', async () => {
    const { email } = await newPerson(world)
    const api = await newApi(3)
    const signIn = async (who: string) => {
      const body = { email: who, password: PASSWORD }
      return (await pagesOf({ api })('POST', '/session', { body })).status
    }
    // A minute may begin meanwhile.
    const others = []
    while (others.at(-1) !== 429 && others.length < 20) {
      others.push(await signIn(`other${others.length}@example.com`))
    }
    expect(others.at(-1)).toBe(429)
    expect(await signIn(email)).toBe(200)
    await api.stop()
  })
})
