import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  keyUse,
  ledgerEntry,
  overviewAnswer,
  requestEntry,
  searchAnswer,
  usageDays,
} from '../../../api/schemas/activity.js'
import { newId } from '../../../db/client/ids.js'
import { createApiKey, grantCredits, keyDigest as digestOf } from '../../../db/accounts/accounts.js'
import { recordRequests, type RequestEntry } from '../../../db/usage/requests.js'
import {
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  type TestWallet,
} from '../../db/rows.js'
import { silentChains } from '../../planning/chains.js'
import { startWorld, type ApiWorld } from '../api.js'
import { newPerson, pagesOf, type Person } from './people.js'

const nodes = silentChains()
let world: ApiWorld
let pages: ReturnType<typeof pagesOf>
let mine: Person
let theirs: Person

beforeAll(async () => {
  world = await startWorld(nodes, { keepsRequests: true })
  pages = pagesOf(world)
})
afterAll(() => world.stop())
beforeEach(async () => {
  mine = await newPerson(world, { role: 'viewer' })
  theirs = await newPerson(world)
})

const read = (path: string, { cookie } = mine) => pages('GET', path, { cookie })
const listed = async (path: string, who = mine) =>
  (await read(path, who)).body as unknown as {
    data: Record<string, unknown>[]
    nextCursor: string | null
  }

const entry = (more: Partial<RequestEntry> = {}): RequestEntry => ({
  ...{ id: newId('req_'), at: new Date(), accountId: mine.accountId, keyDigest: undefined },
  ...{ userId: 'user_1', method: 'GET', path: '/v1/wallets', walletId: undefined, ms: 3 },
  ...{ resourceId: undefined, status: 200, code: undefined, refusal: undefined, credits: 1 },
  ...more,
})
const record = (...entries: RequestEntry[]) => recordRequests(world.db, entries)

async function newWallet(userId: string): Promise<TestWallet> {
  const id = newId('svc_wallet_')
  const address = `0x${Array.from({ length: 40 }, () => Math.floor(Math.random() * 10)).join('')}`
  const { accountId } = mine
  const row = { id, account_id: accountId, user_id: userId, address, metadata: '{}' }
  await world.database.db('wallet').insert(row)
  return { id, accountId, address, requestId: 'req_test' }
}

describe('GET /requests', () => {
  test('lists requests by key and writes by session, newest first, with filters', async () => {
    const { db } = world.database
    const key = await createApiKey(db, mine.accountId, { name: 'x' })
    const owner = await newPerson(world, { accountId: mine.accountId })
    const body = { userId: 'alice' }
    const made = await pages('POST', '/wallets', { cookie: owner.cookie, body })
    const gone = await world.api.call('GET', `/v1/intents/${newId('intent_')}`, { key })
    await world.api.call('GET', '/v1/wallets/alice', { key })
    while ((await listed('/requests')).data.length < 3) await sleep(20)
    const { data } = await listed('/requests')
    for (const one of data) expect(requestEntry.parse(one)).toEqual(one)
    expect(data.map(({ method, path, status }) => [method, path, status].join(' '))).toEqual([
      'GET /v1/wallets/:userId 200',
      'GET /v1/intents/:intentId 404',
      'POST /dashboard/api/wallets 201',
    ])
    const [keyId] = await db('api_key').where({ account_id: mine.accountId }).pluck('id')
    const filters: [string, number][] = [
      ['method=post&path=/dashboard/api/wallets', 1],
      ['status=404', 1],
      ['status=4xx', 1],
      ['status=error', 1],
      ['code=INTENT_NOT_FOUND', 1],
      ['path=/v1/wallets/:userId', 1],
      [`keyId=${keyId}`, 2],
      [`userId=${owner.userId}&path=/dashboard/api/wallets`, 1],
      [`requestId=${gone.headers.get('x-request-id')}`, 1],
      [`requestId=${gone.headers.get('x-request-id')?.slice(0, 24)}`, 1],
      [`resourceId=${made.body.id}`, 2],
    ]
    for (const [filter, count] of filters) {
      expect([filter, (await listed(`/requests?${filter}`)).data.length]).toEqual([filter, count])
    }
    expect((await listed('/requests', theirs)).data.map(({ path }) => path)).not.toContain(
      '/v1/wallets/:userId',
    )
  })

  test('pages follow each other without a gap', async () => {
    await record(...Array.from({ length: 25 }, () => entry()))
    const first = await listed('/requests?limit=10')
    const second = await listed(`/requests?limit=20&cursor=${first.nextCursor}`)
    const ids = [...first.data, ...second.data].map(({ id }) => id)
    expect(new Set(ids).size).toBe(25)
    expect([...ids].sort().reverse()).toEqual(ids)
    expect(second.nextCursor).toBeNull()
  })

  const wrong =
    'method=FETCH code=NOT_A_CODE status=600 status=abc requestId=intent_1 resourceId=x cursor=x limit=1000 before=1'
  test.each(wrong.split(' '))('error: INVALID_REQUEST for %s', async (query) => {
    expect((await read(`/requests?${query}`)).status).toBe(400)
  })

  test('error: UNAUTHORIZED for an API key and without credentials', async () => {
    const key = await createApiKey(world.database.db, mine.accountId, { name: 'x' })
    for (const path of ['/requests', '/usage/days', '/usage/ledger', '/overview', '/search?q=x']) {
      const answer = await world.api.call('GET', `/dashboard/api${path}`, { key })
      expect([path, answer.status]).toEqual([path, 401])
    }
  })
})

describe('GET /usage/days and /keys/:id/use', () => {
  test('return requests, errors and credits by day', async () => {
    const key = await createApiKey(world.database.db, mine.accountId, { name: 'x' })
    const keyDigest = digestOf(key)?.toString('base64')
    const at = (day: string) => new Date(`${day}T12:00:00Z`)
    const today = new Date().toISOString().slice(0, 10)
    await record(
      entry({ keyDigest }),
      entry({ keyDigest, status: 404, credits: 0 }),
      entry({ at: at('2026-01-31'), credits: 5, method: 'POST' }),
      entry({ at: at('2026-02-01') }),
      entry({ accountId: theirs.accountId }),
    )
    const winter = await listed('/usage/days?from=2026-01-01&to=2026-02-01')
    expect(usageDays.parse(winter)).toEqual({
      data: [
        { day: '2026-01-31', endpoint: 'POST /v1/wallets', requests: 1, errors: 0, credits: 5 },
        { day: '2026-02-01', endpoint: 'GET /v1/wallets', requests: 1, errors: 0, credits: 1 },
      ],
    })
    const now = (await listed('/usage/days')).data
    expect(now).toContainEqual(
      expect.objectContaining({ day: today, endpoint: 'GET /v1/wallets', requests: 2, errors: 1 }),
    )
    const [id] = await world.database
      .db('api_key')
      .where({ account_id: mine.accountId })
      .pluck('id')
    const use = await listed(`/keys/${id}/use?days=7`)
    expect(keyUse.parse(use)).toEqual({
      data: [{ day: today, requests: 2, errors: 1, credits: 1 }],
    })
    expect((await read(`/keys/${id}/use`, theirs)).status).toBe(404)
  })

  test.each(['from=2026-02-30', 'from=2026-02-02&to=2026-02-01', 'from=2020-01-01', 'to=x'])(
    'error: INVALID_REQUEST for %s',
    async (query) => {
      expect((await read(`/usage/days?${query}`)).status).toBe(400)
    },
  )
})

describe('GET /usage/ledger', () => {
  beforeEach(async () => {
    const { db } = world.database
    await grantCredits(db, mine.accountId, { credits: 7 })
    await db('ledger').insert([
      {
        account_id: mine.accountId,
        request_id: `=1+1 ${mine.userId}`,
        reason: 'charge:POST /intents',
        delta: -5,
      },
      {
        account_id: mine.accountId,
        request_id: `a"b,c${mine.userId}`,
        reason: 'grant:202611',
        delta: 3,
      },
    ])
  })

  test('lists the entries, newest first, page by page, of the own account only', async () => {
    const first = await listed('/usage/ledger?limit=2')
    for (const one of first.data) expect(ledgerEntry.parse(one)).toEqual(one)
    const second = await listed(`/usage/ledger?limit=100&cursor=${first.nextCursor}`)
    const all = [...first.data, ...second.data]
    expect(all.slice(0, 3)).toMatchObject([
      { type: 'grant', detail: '202611', delta: 3 },
      { type: 'charge', detail: 'POST /intents', delta: -5 },
      { type: 'purchase', detail: null, delta: 7 },
    ])
    const others = await listed('/usage/ledger', theirs)
    expect(others.data.map(({ delta }) => delta)).not.toContain(-5)
  })

  test('as CSV: quoted, and without formulas for a spreadsheet', async () => {
    for (const [query, accept] of [
      ['?format=csv', '*/*'],
      ['', 'text/csv'],
    ] as const) {
      const headers = { cookie: mine.cookie, accept }
      const url = `${world.api.url}/dashboard/api/usage/ledger${query}`
      const answer = await fetch(url, { headers })
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      const lines = (await answer.text()).split('\r\n')
      expect(lines[0]).toBe('id,at,type,detail,credits,request_id')
      expect(lines[1]).toMatch(/^\d+,[\d\-:.TZ]+,grant,202611,3,"a""b,cuser_\w+"$/)
      expect(lines[2]).toMatch(/,charge,POST \/intents,-5,'=1\+1 user_\w+$/)
    }
  })
})

describe('GET /intents.csv', () => {
  test('contains all intents, page after page', async () => {
    const wallet = await newWallet('=HYPERLINK("http://x")')
    const insert = () => insertTestIntent(world.database.db, wallet, 'completed')
    const ids = [await insert(), await insert(), await insert()]
    await world.database.db.raw(
      `insert into intent (id, account_id, wallet_id, action, asset, units, status, plan, request_id, completed_at)
       select 'intent_0' || lpad(n::text, 25, '0'), account_id, wallet_id, action, asset, units, status, plan,
         request_id, completed_at from intent cross join generate_series(1, 1200) n where id = ?`,
      [ids[0] ?? ''],
    )
    const headers = { cookie: mine.cookie }
    const answer = await fetch(`${world.api.url}/dashboard/api/intents.csv`, { headers })
    const lines = (await answer.text()).trimEnd().split('\r\n')
    expect(lines).toHaveLength(1 + 1203)
    expect(new Set(lines.map((line) => line.split(',')[0])).size).toBe(1204)
    expect(lines[1]).toContain(`"'=HYPERLINK(""http://x"")"`)
    expect(lines[1]?.startsWith(ids[2] ?? '-')).toBe(true)
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="intents.csv"')
  })
})

describe('GET /overview', () => {
  test('of a new account: no activity yet', async () => {
    const { body } = await read('/overview')
    expect(overviewAnswer.parse(body)).toEqual(body)
    expect(body).toMatchObject({
      money: { basis: 'deposited', markets: [] },
      intentsToday: {},
      firstSteps: { keyUsed: false, walletMade: false, moneyThere: false, intentCompleted: false },
    })
  })

  test('counts requests, sums lent money, and marks finished first steps', async () => {
    const { db } = world.database
    const wallet = await newWallet('alice')
    const [chain] = nodes.registry.chains
    const market = chain?.markets[0]
    const lent = async (kind: string, units: string, { success = true, isFinal = true } = {}) => {
      const intentId = await insertTestIntent(db, wallet, 'completed')
      await insertTestOperation(db, wallet, intentId, {
        ...{ kind, units, success, state: 'confirmed', chain_id: chain?.chainId },
        ...{ block_hash: '0x1', block_number: 1 },
      })
      const resource = `${kind}:${market?.address.toLowerCase()}`
      await db('operation').where({ intent_id: intentId }).update({ resource })
      if (isFinal) await db('operation').where({ intent_id: intentId }).update({ state: 'final' })
    }
    await lent('deposit', '5000000')
    await lent('deposit', '7000000', { isFinal: false })
    await lent('deposit', '9000000', { success: false })
    await lent('withdraw', '1500000')
    await insertTestIntent(db, wallet, 'failed')
    await insertTestFunding(db, wallet, { completed_at: new Date() })
    await record(entry(), entry(), entry(), entry({ status: 500 }))
    await record(entry({ at: new Date(Date.now() - 3 * 86_400_000), id: 'req_0' + '0'.repeat(25) }))
    const { body } = await read('/overview')
    expect(body).toMatchObject({
      money: { markets: [{ chain: chain?.name, protocol: market?.protocol, deposited: '10.5' }] },
      intentsToday: { completed: 4, failed: 1 },
      firstSteps: { keyUsed: false, walletMade: true, moneyThere: true, intentCompleted: true },
    })
    expect(body).toMatchObject({ requests: { day: { errors: 1 }, week: { errors: 1 } } })
  })
})

describe('GET /search', () => {
  test('finds resources of the own account by id, and none of another', async () => {
    const { db } = world.database
    const wallet = await newWallet('alice')
    const intentId = await insertTestIntent(db, wallet, 'completed')
    const fundingId = await insertTestFunding(db, wallet)
    const hash = `0x${'ab'.repeat(32)}`
    await insertTestOperation(db, wallet, intentId, { tx_hash: hash })
    const request = entry()
    await record(request)
    await createApiKey(db, mine.accountId, { name: 'x' })
    const [keyId] = (await db('api_key')
      .where({ account_id: mine.accountId })
      .pluck('id')) as string[]
    const cases: [string, string, string][] = [
      [intentId, 'intent', intentId],
      [wallet.id, 'wallet', wallet.id],
      ['alice', 'wallet', wallet.id],
      [wallet.address, 'wallet', wallet.id],
      [hash.toUpperCase().replace('0X', '0x'), 'intent', intentId],
      [fundingId, 'wallet', wallet.id],
      [request.id, 'request', request.id],
      [keyId ?? '', 'key', keyId ?? ''],
    ]
    for (const [q, kind, id] of cases) {
      const found = await listed(`/search?q=${encodeURIComponent(q)}`)
      expect(searchAnswer.parse(found).data).toMatchObject([{ kind, id }])
      expect((await listed(`/search?q=${encodeURIComponent(q)}`, theirs)).data).toEqual([])
    }
  })
})
