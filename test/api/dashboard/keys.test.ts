import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyEntry, newKeyAnswer, type NewKeyAnswer } from '../../../api/schemas/dashboard.js'
import { tokenDigest } from '../../../db/accounts/sessions.js'
import { scopeSession, scopeTransaction } from '../../../db/client/scope.js'
import { startWorld, type ApiWorld } from '../api.js'
import { newPerson, pagesOf, tokenIn, type Person } from './people.js'

let world: ApiWorld
let pages: ReturnType<typeof pagesOf>
let owner: Person

beforeAll(async () => {
  world = await startWorld()
  pages = pagesOf(world)
  owner = await newPerson(world)
})
afterAll(() => world.stop())

async function makeKey({ cookie }: Person, options: object = {}): Promise<NewKeyAnswer> {
  const body = { name: 'ci', scopes: ['read', 'write'], ...options }
  const answer = await pages('POST', '/keys', { cookie, body })
  expect(answer.status).toBe(201)
  return newKeyAnswer.parse(answer.body)
}

const statusOf = async (key: string) => (await world.api.call('GET', '/v1/wallets', { key })).status

const listKeys = async ({ cookie }: Person) =>
  keyEntry.array().parse((await pages('GET', '/keys', { cookie })).body.data)

describe('keys', () => {
  test('are created with a name, scopes and an expiry, work, and are shown once', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const { key, ...shown } = await makeKey(owner, { scopes: ['read'], expiresAt })
    expect(shown).toMatchObject({ name: 'ci', scopes: ['read'], expiresAt })
    expect(await statusOf(key)).toBe(200)
    const write = { key, body: { userId: 'x' } }
    expect((await world.api.call('POST', '/v1/wallets', write)).status).toBe(403)
    const listed = await pages('GET', '/keys', { cookie: owner.cookie })
    expect(listed.text).toContain(shown.id)
    expect(listed.text).not.toContain(key)
    expect(listed.text).not.toContain('hash')
    expect(world.api.logText()).not.toContain(key)
    const kept = await world.database.db('idempotency_key').select('body')
    expect(JSON.stringify(kept)).not.toContain(key)
  })

  test('a revoked one is rejected at once, and is revoked once', async () => {
    const { key, id } = await makeKey(owner)
    const revoke = () => pages('POST', `/keys/${id}/revoke`, { cookie: owner.cookie })
    expect((await revoke()).status).toBe(200)
    expect(await statusOf(key)).toBe(401)
    expect((await revoke()).status).toBe(404)
  })

  test('a rolled one works during its grace period, and its successor has the same scopes', async () => {
    const old = await makeKey(owner, { scopes: ['read'] })
    const roll = (graceHours: number, id: string) =>
      pages('POST', `/keys/${id}/roll`, { cookie: owner.cookie, body: { graceHours } })
    const next = newKeyAnswer.parse((await roll(1, old.id)).body)
    expect(next).toMatchObject({ name: 'ci', scopes: ['read'], oldEndsAt: expect.any(String) })
    expect([await statusOf(old.key), await statusOf(next.key)]).toEqual([200, 200])
    const last = newKeyAnswer.parse((await roll(0, next.id)).body)
    expect([await statusOf(next.key), await statusOf(last.key)]).toEqual([401, 200])
    expect((await roll(1, next.id)).status).toBe(404)
  })

  test('of another account are neither listed, rolled nor revoked', async () => {
    const other = await newPerson(world)
    const { key, id } = await makeKey(owner)
    expect(await listKeys(other)).toEqual([])
    const { cookie } = other
    const body = { graceHours: 0 }
    expect((await pages('POST', `/keys/${id}/roll`, { cookie, body })).status).toBe(404)
    expect((await pages('POST', `/keys/${id}/revoke`, { cookie })).status).toBe(404)
    expect(await statusOf(key)).toBe(200)
  })

  test('are not kept by caches: their responses carry no-store', async () => {
    const body = { name: 'ci', scopes: ['read'] }
    const { cookie } = owner
    const made = await pages('POST', '/keys', { cookie, body })
    expect(made.headers.get('cache-control')).toBe('no-store')
    const invited = { email: 'cached@example.com', role: 'viewer' }
    const link = await pages('POST', '/members/invite', { cookie, body: invited })
    expect(link.headers.get('cache-control')).toBe('no-store')
  })

  test('each action is logged with its user', async () => {
    const developer = await newPerson(world, { accountId: owner.accountId, role: 'developer' })
    const { id } = await makeKey(developer)
    await pages('POST', `/keys/${id}/roll`, { cookie: developer.cookie, body: { graceHours: 1 } })
    await pages('POST', `/keys/${id}/revoke`, { cookie: developer.cookie })
    const auditLog = await world.database
      .db('member_action')
      .where({ user_id: developer.userId })
      .orderBy('id')
      .select<{ action: string; subject: string }[]>('action', 'subject')
    expect(auditLog.map(({ action }) => action)).toEqual([
      ...['member join', 'key create', 'key shorten', 'key create', 'key revoke'],
    ])
    expect(auditLog.filter(({ subject }) => subject === id)).toHaveLength(3)
  })

  test('error: INVALID_REQUEST for a past expiry, no scope and an unknown scope', async () => {
    const wrong = [
      { scopes: ['read'], expiresAt: '2020-01-01T00:00:00Z' },
      { scopes: [] },
      { scopes: ['admin'] },
    ]
    for (const one of wrong) {
      const body = { name: 'x', ...one }
      expect((await pages('POST', '/keys', { cookie: owner.cookie, body })).status).toBe(400)
    }
  })

  test('the API role cannot restore a key, reassign it or store it unsigned', async () => {
    const { id, key } = await makeKey(owner)
    const { accountId } = owner
    await pages('POST', `/keys/${id}/revoke`, { cookie: owner.cookie })
    const changed = await world.db.transaction(async (trx) => {
      await scopeTransaction(trx, accountId)
      await scopeSession(trx, hashOf(owner))
      return trx('api_key').where({ id }).update({ revoked_at: null })
    })
    expect([changed, await statusOf(key)]).toEqual([0, 401])
    const live = await makeKey(owner)
    const unsigned = world.db.transaction(async (trx) => {
      await scopeTransaction(trx, accountId)
      return trx('api_key').where({ id: live.id }).update({ expires_at: null })
    })
    await expect(unsigned).rejects.toMatchObject({ code: '23502' })
    const other = await newPerson(world)
    const foreign = await world.db.transaction(async (trx) => {
      await scopeTransaction(trx, other.accountId)
      await scopeSession(trx, hashOf(other))
      return trx('api_key').where({ id: live.id }).update({ revoked_at: trx.fn.now() })
    })
    expect([foreign, await statusOf(live.key)]).toEqual([0, 200])
  })
})

const hashOf = ({ cookie }: Person) => tokenDigest(tokenIn(cookie)) ?? Buffer.alloc(0)

describe('writes by session', () => {
  test('cost the same as with a key; reads are free', async () => {
    const person = await newPerson(world)
    const { cookie } = person
    const balance = async () => (await pages('GET', '/credits', { cookie })).body.balance as number
    const before = await balance()
    for (const path of ['/wallets', '/intents', '/wallets', '/credits']) {
      await pages('GET', path, { cookie })
    }
    expect(await balance()).toBe(before)
    const body = { userId: 'alice' }
    const headers = { 'idempotency-key': 'one' }
    const made = await pages('POST', '/wallets', { cookie, body, headers })
    const charged = Number(made.headers.get('x-credits-charged'))
    expect(charged).toBeGreaterThan(0)
    expect(await balance()).toBe(before - charged)
    const again = await pages('POST', '/wallets', { cookie, body, headers })
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([made.text, 'true'])
    expect(await balance()).toBe(before - charged)
  })

  test('error: METHOD_NOT_ALLOWED and NOT_FOUND come after the session', async () => {
    const { cookie } = owner
    expect((await pages('DELETE', '/wallets')).status).toBe(401)
    expect((await pages('GET', '/nothing')).status).toBe(401)
    expect((await pages('GET', '/wallets/%E0%A4%A')).status).toBe(401)
    const refused = await pages('DELETE', '/wallets', { cookie })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, POST'])
    expect((await pages('GET', '/nothing', { cookie })).status).toBe(404)
    expect((await pages('GET', '/wallets/%E0%A4%A', { cookie })).status).toBe(400)
  })
})
