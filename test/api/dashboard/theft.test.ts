import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHash } from 'node:crypto'
import { createPasswords } from '../../../api/http/auth/passwords.js'
import { startWorld, type ApiWorld } from '../api.js'
import { PASSWORD, cookieOf, newPerson, pagesOf, tokenIn, type Person } from './people.js'

let world: ApiWorld
let pages: ReturnType<typeof pagesOf>
let owner: Person

beforeAll(async () => {
  world = await startWorld(undefined, { dashboard: { passwords: createPasswords() } })
  pages = pagesOf(world)
  owner = await newPerson(world)
})
afterAll(() => world.stop())

const asText = (_name: string, value: unknown) =>
  typeof value === 'bigint' ? value.toString() : value
const sessions = () => world.database.db('user_session')
const digestOf = (token: string) => createHash('sha256').update(token).digest()
const statusOf = async (cookie: string) => (await pages('GET', '/session', { cookie })).status

describe('Origin', () => {
  const foreign: [string, object][] = [
    ['none', { origin: undefined }],
    ['of another host', { origin: 'http://evil.example' }],
    ['of another port', { origin: 'http://127.0.0.1:1' }],
    ['null', { origin: 'null' }],
    ['that is no address', { origin: 'http://' }],
  ]
  const writes = ['/wallets', '/keys', '/session', '/session/end', '/unknown']

  test.each(foreign)('error: FORBIDDEN for each write with one %s', async (_title, headers) => {
    for (const path of writes) {
      const body = { userId: 'stolen' }
      const { api } = world
      const response = await fetch(`${api.url}/dashboard/api${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          cookie: owner.cookie,
          ...definedHeaders(headers),
        },
        body: JSON.stringify(body),
      })
      expect(response.status).toBe(403)
    }
    expect(await world.database.db('wallet').where({ account_id: owner.accountId })).toEqual([])
    expect(await statusOf(owner.cookie)).toBe(200)
  })

  test('error: INVALID_REQUEST for a form, which any page can send', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await world.api.call('POST', '/dashboard/api/wallets', {
      raw: 'userId=stolen',
      headers: { ...headers, origin: world.api.url, cookie: owner.cookie },
    })
    expect(answer.status).toBe(400)
  })
})

const definedHeaders = (headers: object) =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))

describe('a session', () => {
  test('is rejected without its cookie, with half of it, and with another text', async () => {
    for (const cookie of [
      '',
      'steward_session=',
      `${owner.cookie.slice(0, -1)}`,
      'steward_session=x',
    ])
      expect(await statusOf(cookie)).toBe(401)
  })

  test('grants nothing below /v1, and a key nothing below /dashboard/api', async () => {
    const { cookie } = owner
    for (const path of ['/v1/wallets', '/dashboard/credits']) {
      expect((await world.api.call('GET', path, { headers: { cookie } })).status).toBe(401)
    }
    const key = await world.newKey()
    for (const path of ['/wallets', '/session', '/keys', '/unknown']) {
      const answer = await world.api.call('GET', `/dashboard/api${path}`, { key })
      expect(answer.status).toBe(401)
    }
  })

  test('changes at each sign-in, which ends the previous one', async () => {
    const { email, cookie } = await newPerson(world)
    const body = { email, password: PASSWORD }
    const next = cookieOf(await pages('POST', '/session', { body, cookie }))
    expect(next).not.toBe(cookie)
    expect([await statusOf(cookie), await statusOf(next)]).toEqual([401, 200])
  })

  test('expires after a week without a request, and after thirty days in any case', async () => {
    const { cookie } = await newPerson(world)
    const own = () => sessions().where({ token_hash: digestOf(tokenIn(cookie)) })
    const ago = (time: string) => world.database.db.raw(`clock_timestamp() - ?::interval`, [time])
    await own().update({ last_seen_at: ago('6 days 23 hours') })
    expect(await statusOf(cookie)).toBe(200)
    const [seen] = await own().select('last_seen_at')
    expect(Date.now() - Number((seen as { last_seen_at: Date }).last_seen_at)).toBeLessThan(60_000)
    await own().update({ last_seen_at: ago('7 days') })
    expect(await statusOf(cookie)).toBe(401)
    await own().update({ last_seen_at: ago('0 s'), expires_at: ago('0 s') })
    expect(await statusOf(cookie)).toBe(401)
  })

  test('of another user cannot be ended by its id, and is not listed', async () => {
    const other = await newPerson(world, { accountId: owner.accountId })
    const listed = await pages('GET', '/sessions', { cookie: other.cookie })
    const { data } = listed.body as unknown as { data: { id: string; isCurrent: boolean }[] }
    expect(data.map(({ isCurrent }) => isCurrent)).toEqual([true])
    const id = data[0]?.id ?? ''
    const ended = await pages('POST', `/sessions/${id}/end`, { cookie: owner.cookie })
    expect(ended.status).toBe(404)
    expect(await statusOf(other.cookie)).toBe(200)
  })

  test('of an account does not see resources of another account', async () => {
    const other = await newPerson(world)
    const made = await pages('POST', '/wallets', { cookie: other.cookie, body: { userId: 'bob' } })
    expect(made.status).toBe(201)
    const { cookie } = owner
    expect((await pages('GET', '/wallets/bob', { cookie })).status).toBe(404)
    expect((await pages('GET', '/intents/intent_1', { cookie })).status).toBe(404)
    expect((await pages('GET', `/balances/${made.body.id}`, { cookie })).status).toBe(404)
  })
})

describe('POST /password', () => {
  test('ends all other sessions, and the old password is rejected', async () => {
    const { email, cookie } = await newPerson(world)
    const elsewhere = cookieOf(
      await pages('POST', '/session', { body: { email, password: PASSWORD } }),
    )
    const next = 'another long password'
    const body = { current: PASSWORD, next }
    expect((await pages('POST', '/password', { cookie, body })).status).toBe(200)
    expect([await statusOf(cookie), await statusOf(elsewhere)]).toEqual([200, 401])
    const signIn = (password: string) => pages('POST', '/session', { body: { email, password } })
    expect((await signIn(PASSWORD)).status).toBe(401)
    expect((await signIn(next)).status).toBe(200)
  })

  test('error: INVALID_REQUEST for a common one', async () => {
    const body = { current: PASSWORD, next: 'Password1234' }
    const answer = await pages('POST', '/password', { cookie: owner.cookie, body })
    expect([answer.status, answer.body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(answer.body.message).toContain('is a common password: choose another')
  })

  test('error: INVALID_REQUEST without the current one, and for a short one', async () => {
    const { cookie } = owner
    const wrong = { current: 'a wrong password', next: 'another long password' }
    expect((await pages('POST', '/password', { cookie, body: wrong })).status).toBe(400)
    const short = { current: PASSWORD, next: 'short' }
    expect((await pages('POST', '/password', { cookie, body: short })).status).toBe(400)
  })
})

test('POST /session/end-all ends the sessions of all browsers', async () => {
  const { email, cookie } = await newPerson(world)
  const elsewhere = cookieOf(
    await pages('POST', '/session', { body: { email, password: PASSWORD } }),
  )
  await pages('POST', '/session/end-all', { cookie })
  expect([await statusOf(cookie), await statusOf(elsewhere)]).toEqual([401, 401])
})

test('the cookie is for the dashboard alone; over TLS no other host can set it', async () => {
  const body = { email: owner.email, password: PASSWORD }
  const plain = await pages('POST', '/session', { body })
  expect(plain.headers.getSetCookie()[0]).toMatch(
    /^steward_session=[\w-]{43}; Path=\/dashboard; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
  )
  const publicUrl = 'https://steward.example.com'
  const behindTls = await startWorld(undefined, { dashboard: { publicUrl } })
  try {
    const { cookie } = await newPerson(behindTls, {}, { origin: publicUrl })
    expect(cookie).toMatch(/^__Host-steward_session=/)
    const pagesThere = pagesOf(behindTls)
    const headers = { origin: publicUrl }
    expect((await pagesThere('POST', '/session/end', { cookie })).status).toBe(403)
    const ended = await pagesThere('POST', '/session/end', { cookie, headers })
    expect(ended.headers.getSetCookie()[0]).toBe(
      '__Host-steward_session=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0',
    )
  } finally {
    await behindTls.stop()
  }
})

test('tokens and passwords are stored as hashes only, and never logged', async () => {
  const { cookie, email } = await newPerson(world)
  await pages('POST', '/session', { body: { email, password: 'a wrong password 7' } })
  const invited = await pages('POST', '/members/invite', {
    cookie,
    body: { email: 'new@example.com', role: 'viewer' },
  })
  const { url } = invited.body as unknown as { url: string }
  const link = url.split('/').at(-1) ?? ''
  await pages('GET', `/invitations/${link}`)
  const secrets = [tokenIn(cookie), link, PASSWORD, 'a wrong password 7']
  const tables = ['user_session', 'invitation', 'app_user', 'sign_in_attempts', 'member_action']
  const stored = await Promise.all(tables.map((table) => world.database.db(table).select()))
  const dump = JSON.stringify(stored, asText) + world.api.logText()
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(10)
    expect(dump).not.toContain(secret)
    expect(dump).not.toContain(Buffer.from(secret).toString('base64'))
  }
  const [{ count } = { count: 0n }] = await sessions()
    .where({ token_hash: digestOf(tokenIn(cookie)) })
    .count<{ count: bigint }[]>('* as count')
  expect(count).toBe(1n)
  const hashes = await world.database.db('app_user').pluck<string[]>('password_hash')
  for (const hash of hashes) expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
})

test('a suspended account is closed to its members, too', async () => {
  const { cookie, accountId } = await newPerson(world)
  const suspended_at = world.database.db.raw('clock_timestamp()')
  await world.database.db('account').where({ id: accountId }).update({ suspended_at })
  expect(await statusOf(cookie)).toBe(403)
})

test('a user has a rate limit of their own, apart from that of their account', async () => {
  const { cookie, userId, accountId } = await newPerson(world)
  const read = await pages('GET', '/wallets', { cookie })
  expect(read.headers.get('x-ratelimit-limit')).toBe('600')
  const row = { account: await world.database.db('account').where({ id: accountId }).first() }
  expect(row.account).toMatchObject({ win_used: 0 })
  await world.database.db('app_user').where({ id: userId }).update({ win_used: 600 })
  const refused = await pages('GET', '/wallets', { cookie })
  // The minute may have ended between the two.
  if (refused.status === 200) expect(refused.headers.get('x-ratelimit-remaining')).toBe('599')
  else expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true])
})
