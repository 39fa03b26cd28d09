import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { createAccount, createApiKey } from '../../db/accounts/accounts.js'
import { admit } from '../../db/usage/metering.js'
import { newId } from '../../db/client/ids.js'
import { createDatabase, type TestDatabase } from '../support/database.js'

let database: TestDatabase
let accountId: string

beforeAll(async () => {
  database = await createDatabase()
  ;({ id: accountId } = await createAccount(database.db, { name: 'test', plan: 'pro' }))
})
afterAll(() => database.drop())

const newKey = () => createApiKey(database.db, accountId, { name: 'test' })
const find = async (key: string) => {
  const request = { key, requestId: newId('req_'), cost: 0, route: 'test', scope: 'read' as const }
  const found = await admit(database.db, request)
  return found && { id: found.accountId, tier: found.tier }
}

describe('createApiKey', () => {
  test('is svc_sk_ and 64 hex characters, the last eight of which are a CRC-32', async () => {
    const key = await newKey()
    const [, secret = '', sum] = /^svc_sk_([0-9a-f]{56})([0-9a-f]{8})$/.exec(key) ?? []
    expect(sum).toBe(crc32(secret).toString(16).padStart(8, '0'))
  })

  test('stores the digest and the last four characters, never the key', async () => {
    const key = await newKey()
    const key_hash = createHash('sha256').update(key).digest()
    const row = await database.db('api_key').where({ key_hash }).first<object>()
    expect(row).toMatchObject({ last_four: key.slice(-4), account_id: accountId, revoked_at: null })
    expect(JSON.stringify(row)).not.toContain(key.slice(7, 40))
  })
})

describe('admit', () => {
  test('finds the account of a valid key', async () => {
    expect(await find(await newKey())).toEqual({ id: accountId, tier: 'pro' })
  })

  test('returns undefined for an unknown key', async () => {
    const secret = '0'.repeat(56)
    const sum = crc32(secret).toString(16).padStart(8, '0')
    expect(await find(`svc_sk_${secret}${sum}`)).toBeUndefined()
  })

  test('runs no query for a mistyped key', async () => {
    const queries: unknown[] = []
    const key = await newKey()
    database.db.on('query', (query) => queries.push(query))
    const typos = [
      ...['', 'svc_sk_', key.slice(0, -1), `${key}0`, key.toUpperCase(), ` ${key}`, `${key}\n`],
      key.replace(/^svc_sk_./, (start) => `svc_sk_${start.endsWith('0') ? '1' : '0'}`),
      key.replace('svc_sk_', 'svc_pk_'),
    ]
    for (const typo of typos) expect(await find(typo)).toBeUndefined()
    database.db.removeAllListeners('query')
    expect(queries).toEqual([])
  })

  test.each([
    ['revoked_at', '-1 second', false],
    ['expires_at', '-1 second', false],
    ['expires_at', '1 hour', true],
  ])('%s in %s: valid is %p', async (column, interval, live) => {
    const key = await newKey()
    const key_hash = createHash('sha256').update(key).digest()
    const at = database.db.raw('clock_timestamp() + ?::interval', [interval])
    await database.db('api_key').where({ key_hash }).update(column, at)
    expect((await find(key)) !== undefined).toBe(live)
  })
})

describe('newId', () => {
  test('returns the prefix and 26 base32 characters', () => {
    expect(newId('intent_')).toMatch(/^intent_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  })

  test('sorts by creation time, without duplicates', async () => {
    const ids: string[] = []
    for (let i = 0; i < 20; i++) {
      ids.push(newId('x_'))
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect([...ids].sort()).toEqual(ids)
    expect(new Set(Array.from({ length: 10_000 }, () => newId(''))).size).toBe(10_000)
  })
})
