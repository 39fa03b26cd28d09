import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createHash } from 'node:crypto'
import { createPasswords } from '../../../api/http/auth/passwords.js'
import { startWorld, type ApiWorld } from '../api.js'
import { PASSWORD, newPerson, pagesOf } from './people.js'

let world: ApiWorld
let pages: ReturnType<typeof pagesOf>
/** What each comparison of a password had to compare with. */
let compared: (string | null)[] = []

beforeAll(async () => {
  const { hash, matches } = createPasswords()
  const passwords = {
    hash,
    matches(password: string, stored: string | null) {
      compared.push(stored)
      return matches(password, stored)
    },
  }
  world = await startWorld(undefined, { dashboard: { passwords, trustedProxies: 1 } })
  pages = pagesOf(world)
})
beforeEach(async () => {
  await world.database.db('sign_in_attempts').delete()
  compared = []
})
afterAll(() => world.stop())

const WRONG = 'a wrong password'
/** Sends a request from an address that the proxy in front of the API reports. */
const signIn = (email: string, password: string, address = '203.0.113.7') =>
  pages('POST', '/session', {
    body: { email, password },
    headers: { 'x-forwarded-for': `198.51.100.1, ${address}` },
  })
const statusOf = async (email: string, password: string, address?: string) =>
  (await signIn(email, password, address)).status

async function failTimes(times: number, email: string, address?: string) {
  for (let i = 0; i < times; i += 1) expect(await statusOf(email, WRONG, address)).toBe(401)
}

describe('attempts to sign in', () => {
  test('an unknown e-mail costs as many hashes as a known one, and as many attempts', async () => {
    const { email } = await newPerson(world)
    await world.database.db('sign_in_attempts').delete()
    compared = []
    await failTimes(1, email)
    await failTimes(1, 'nobody@example.com')
    expect(compared).toEqual([expect.any(String), null])
    const attempts = await world.database.db('sign_in_attempts').pluck<number[]>('attempts')
    expect(attempts.sort()).toEqual([1, 1, 1, 1, 2])
  })

  test.each(['a known one', 'an unknown one'])(
    'error: RATE_LIMITED after ten for an e-mail, %s, without another hash',
    async (title) => {
      const { email } = await newPerson(world)
      const who = title === 'a known one' ? email : 'nobody@example.com'
      await failTimes(10, who)
      compared = []
      const refused = await signIn(who, PASSWORD)
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800)
      expect(compared).toEqual([])
      expect(await statusOf(who, WRONG, '203.0.113.8')).toBe(401)
    },
  )

  test('are counted together when concurrent', async () => {
    const { email } = await newPerson(world)
    await world.database.db('sign_in_attempts').delete()
    const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(email, WRONG)))
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  })

  test('are reset by a successful one, and after 15 minutes', async () => {
    const { email } = await newPerson(world)
    await failTimes(9, email)
    expect(await statusOf(email, PASSWORD)).toBe(200)
    await failTimes(10, email)
    expect(await statusOf(email, PASSWORD)).toBe(429)
    const { db } = world.database
    await db('sign_in_attempts').update({ ends_at: db.raw('clock_timestamp()') })
    expect(await statusOf(email, PASSWORD)).toBe(200)
  })

  test('error: RATE_LIMITED for an address that tries many e-mails', async () => {
    await failTimes(1, 'first@example.com')
    // As if so many had failed.
    await world.database.db('sign_in_attempts').update({ attempts: 50 })
    expect(await statusOf('second@example.com', WRONG)).toBe(429)
    expect(await statusOf('second@example.com', WRONG, '203.0.113.8')).toBe(401)
  })

  test('of many addresses do not lock out a user at a known address', async () => {
    const { email } = await newPerson(world)
    expect(await statusOf(email, PASSWORD, '203.0.113.50')).toBe(200)
    await failTimes(1, email, '203.0.113.60')
    const subject = createHash('sha256').update(`email ${email}`).digest()
    await world.database.db('sign_in_attempts').where({ subject }).update({ attempts: 100 })
    expect(await statusOf(email, PASSWORD, '203.0.113.61')).toBe(429)
    expect(await statusOf(email, PASSWORD, '203.0.113.50')).toBe(200)
  })

  test('of a neighbour behind the same address do not lock out a user who has signed in there', async () => {
    const { email } = await newPerson(world)
    expect(await statusOf(email, PASSWORD, '203.0.113.70')).toBe(200)
    await failTimes(1, 'first@example.com', '203.0.113.70')
    const subject = createHash('sha256').update('address 203.0.113.70').digest()
    await world.database.db('sign_in_attempts').where({ subject }).update({ attempts: 50 })
    expect(await statusOf('second@example.com', WRONG, '203.0.113.70')).toBe(429)
    expect(await statusOf(email, PASSWORD, '203.0.113.70')).toBe(200)
    // Guesses at their password still count.
    await failTimes(10, email, '203.0.113.70')
    expect(await statusOf(email, PASSWORD, '203.0.113.70')).toBe(429)
  })

  test('of IPv6 count for the whole network, and a caller cannot forge an address', async () => {
    await failTimes(10, 'v6@example.com', '2001:db8:1:2::1')
    expect(await statusOf('v6@example.com', WRONG, '2001:DB8:1:2:ffff::9')).toBe(429)
    const body = { email: 'v6@example.com', password: WRONG }
    const forged = { 'x-forwarded-for': '203.0.113.99, 2001:db8:1:2::3' }
    expect((await pages('POST', '/session', { body, headers: forged })).status).toBe(429)
    expect(await statusOf('v6@example.com', WRONG, '2001:db8:1:3::1')).toBe(401)
  })
})

describe('hashes', () => {
  test('run a few at a time, and those that wait too long are rejected', async () => {
    const { matches } = createPasswords({ atOnce: 2, patienceMs: 50 })
    const tries = Array.from({ length: 60 }, () => matches(WRONG, null))
    const settled = await Promise.allSettled(tries)
    const refused = settled.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(60)
    expect(refused[0]).toMatchObject({ reason: { code: 'UNAVAILABLE' } })
    expect(await matches(WRONG, null)).toBe(false)
  })

  test('do not block the event loop', async () => {
    const { hash } = createPasswords()
    let turns = 0
    let isOver = false
    const turn = () => {
      turns += 1
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    await hash(PASSWORD)
    isOver = true
    expect(turns).toBeGreaterThan(10)
  })

  test('are the same however a keyboard composes a letter', async () => {
    const { hash, matches } = createPasswords()
    const stored = await hash('caf\u00e9 caf\u00e9 caf\u00e9')
    expect(await matches('cafe\u0301 cafe\u0301 cafe\u0301', stored)).toBe(true)
    expect(await matches('cafe cafe cafe', stored)).toBe(false)
  })
})
