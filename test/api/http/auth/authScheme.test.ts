import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { z } from 'zod'
import { handleErrors } from '../../../../api/http/errors.js'
import { noParams, noQuery } from '../../../../api/http/input.js'
import { readRoute, writeRoute } from '../../../../api/http/route.js'
import type { Docs } from '../../../../api/http/docs.js'
import { createPasswords } from '../../../../api/http/auth/passwords.js'
import { createAuthFailureLimiter } from '../../../../api/http/auth/authFailureLimiter.js'
import { createStreams } from '../../../../api/http/streaming/stream.js'
import { createSealedAccount } from '../../../../custody/account.js'
import { newId } from '../../../../db/client/ids.js'
import { findActiveKek } from '../../../../db/keys.js'
import { createAccount, createApiKey, type Scope } from '../../../../db/accounts/accounts.js'
import { lockAccount } from '../../../../db/usage/metering.js'
import { insertWallet, newWalletId, walletByUser } from '../../../../db/accounts/wallets.js'
import { ServiceError } from '../../../../domain/errors.js'
import { createProber } from '../../../../operations/health/watch.js'
import { createProgressReader } from '../../../../workflows/client/progress.js'
import { silentChains } from '../../../planning/chains.js'
import { createQuietLog } from '../../../support/capturedLog.js'
import { startWorld, type ApiWorld } from '../../api.js'
import type { AuthScheme } from '../../../../api/http/auth/authScheme.js'
import type { Caller } from '../../../../api/http/auth/caller.js'
import type { Services } from '../../../../api/http/services.js'

type Badge = Caller & { scopes: Scope[] }
const badges = new Map<string, Badge>()

/** Knows callers by a header of its own, counts nothing and costs nothing. */
const byBadge: AuthScheme<Badge> = {
  credits: 0,
  async admit({ services, request, response, scope }, search) {
    response.setHeader('X-Auth-Scheme', 'badge')
    const badge = badges.get(request.get('x-badge') ?? '')
    if (!badge) throw new ServiceError('UNAUTHORIZED', 'Show your badge.')
    if (!badge.scopes.includes(scope)) {
      throw new ServiceError('FORBIDDEN', `This badge may not ${scope}.`)
    }
    const { accountId } = badge
    const found = search && (await search.lookup.find(services.db, accountId, search.key))
    return { ...badge, found }
  },
  refund: () => Promise.resolve(),
  settle: () => undefined,
}

const docs: Docs = { operationId: 'x', tag: 'Account', summary: 'x', responses: {}, errors: [] }

const readWallet = readRoute(
  {
    path: '/wallets/:userId',
    caller: byBadge,
    params: z.object({ userId: z.string() }),
    query: noQuery,
    search: { lookup: walletByUser, by: ({ userId }) => userId },
    docs,
  },
  (_services, { caller, found: { id } }) => ({
    status: 200,
    body: { id, account: caller.accountId, scopes: caller.scopes },
  }),
)

const readBroken = readRoute(
  { path: '/broken', caller: byBadge, params: noParams, query: noQuery, docs },
  () => {
    throw new Error('secret')
  },
)

const createWallet = writeRoute(
  {
    path: '/wallets',
    caller: byBadge,
    params: noParams,
    query: noQuery,
    body: z.strictObject({ userId: z.string() }),
    docs,
  },
  async ({ db }, { caller: { accountId }, body: { userId } }, commit) => {
    const kek = await findActiveKek(db)
    if (!kek) throw new Error('There is no KEK.')
    const id = newWalletId()
    const owner = { purpose: 'wallet', owner: id, accountId } as const
    const { address, sealed } = createSealedAccount(kek, () => owner)
    return commit(async (trx) => {
      await lockAccount(trx, accountId)
      const wallet = { id, accountId, userId, address, metadata: {} }
      await insertWallet(trx, wallet, { kekId: kek.id, sealed })
      return { status: 201, body: { id } }
    })
  },
)

let world: ApiWorld
let server: Server
let accountId: string
const authFailures = createAuthFailureLimiter()

beforeAll(async () => {
  world = await startWorld()
  const log = createQuietLog('api')
  const temporal = world.temporal.client
  const readProgress = createProgressReader(temporal)
  const nodes = silentChains()
  const prober = createProber(nodes)
  const fundingLimits = { perWallet: 0, perAccount: 0 }
  const streams = createStreams(world.db, log)
  const dashboard = { passwords: createPasswords() }
  const guards = { fundingLimits, authFailures, streams, log, dashboard }
  const parts = { ...nodes, prober, temporal, readProgress, ...guards }
  server = listen({ db: world.db, ...parts })
  await once(server, 'listening')
})
beforeEach(async () => {
  accountId = await newBadge('mine')
  await newBadge('theirs')
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await world.stop()
})

/** The routes above as the API mounts its own. */
function listen(services: Services): Server {
  const app = express()
  app.use((_request, response, next) => {
    response.locals.requestId = newId('req_')
    next()
  })
  for (const route of [readWallet, readBroken, createWallet]) route.mount(services, app)
  app.use(handleErrors(services.log))
  return app.listen(0, '127.0.0.1')
}

/** An account without credits and without keys, and a badge of this name for it. */
async function newBadge(name: string, scopes: Scope[] = ['read', 'write']): Promise<string> {
  const { id } = await createAccount(world.database.db, { name, plan: 'free' })
  await world.database.db('account').where({ id }).update({ monthly_credits: 0 })
  badges.set(name, { accountId: id, scopes })
  return id
}

type BadgeResponse = {
  status: number
  headers: Headers
  text: string
  body: { id: string; error: string; details: Record<string, unknown> }
}

async function call(method: string, path: string, init: RequestInit = {}): Promise<BadgeResponse> {
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...init })
  const text = await response.text()
  const body = JSON.parse(text) as BadgeResponse['body']
  return { status: response.status, headers: response.headers, text, body }
}

const get = (path: string, badge = 'mine') => call('GET', path, { headers: { 'x-badge': badge } })

const post = (userId: unknown, { badge = 'mine', name = '' } = {}) =>
  call('POST', '/wallets', {
    headers: {
      'x-badge': badge,
      'content-type': 'application/json',
      ...(name && { 'idempotency-key': name }),
    },
    body: JSON.stringify({ userId }),
  })

const isReplay = ({ headers }: BadgeResponse) => headers.get('idempotent-replayed') === 'true'
const wallets = () => world.database.db('wallet').where({ account_id: accountId })

describe('another scheme', () => {
  test('admits known callers and passes them to the endpoint', async () => {
    const { status, body } = await post('alice')
    const read = await get('/wallets/alice')
    expect([status, read.status]).toEqual([201, 200])
    expect(read.body).toEqual({ id: body.id, account: accountId, scopes: ['read', 'write'] })
  })

  test('does not use API keys, their credits or their rate limit', async () => {
    const answers = [await post('alice'), await get('/wallets/alice'), await get('/wallets/bob')]
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 404])
    const names = answers.flatMap(({ headers }) => [...headers.keys()])
    expect(names.filter((name) => /credits|ratelimit|authenticate/.test(name))).toEqual([])
    const account: unknown = await world.database.db('account').where({ id: accountId }).first()
    expect(account).toMatchObject({ win_used: 0, total_used: 0n, granted: 0n, purchased: 0n })
    expect(await world.database.db('ledger').where({ account_id: accountId })).toEqual([])
  })

  test('rejects an API key', async () => {
    const key = await createApiKey(world.database.db, accountId, { name: 'test' })
    const headers = { authorization: `Bearer ${key}` }
    const answer = await call('GET', '/wallets/alice', { headers })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, null])
    const row: unknown = await world.database
      .db('api_key')
      .where({ account_id: accountId })
      .first('last_used_at')
    expect(row).toEqual({ last_used_at: null })
    expect(authFailures.peek('127.0.0.1').used).toBe(0)
  })

  test('rejects before any other check of a request', async () => {
    await newBadge('reader', ['read'])
    const broken = { body: '{not json' }
    const unknown = await call('POST', '/wallets?x=1', broken)
    const reader = await call('POST', '/wallets', { ...broken, headers: { 'x-badge': 'reader' } })
    expect([unknown.body.error, reader.body.error]).toEqual(['UNAUTHORIZED', 'FORBIDDEN'])
    expect((await get('/wallets/x', 'reader')).status).toBe(404)
  })

  test('sets the headers of every response', async () => {
    const answers = [
      await post('alice'),
      await get('/wallets/alice'),
      await post(1),
      await get('/wallets/alice', 'unknown'),
      await get('/wallets/bob'),
      await get('/broken'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 400, 401, 404, 500])
    for (const { headers } of answers) expect(headers.get('x-auth-scheme')).toBe('badge')
  })

  test("finds the row that a route searches, among its caller's own only", async () => {
    await post('alice', { badge: 'theirs' })
    const { status, body } = await get('/wallets/alice')
    expect([status, body.error]).toEqual([404, 'WALLET_NOT_FOUND'])
    expect((await get('/wallets/alice', 'theirs')).status).toBe(200)
  })
})

describe('behind another scheme the routes behave the same', () => {
  const json = { 'x-badge': 'mine', 'content-type': 'application/json' }
  const refused: [string, () => Promise<BadgeResponse>, string][] = [
    ['a wrong field', () => post(1), 'userId'],
    ['a query that is not known', () => get('/wallets/alice?x=1'), 'x'],
    ['broken JSON', () => call('POST', '/wallets', { headers: json, body: '{' }), ''],
    ['no JSON', () => call('POST', '/wallets', { headers: { 'x-badge': 'mine' }, body: 'x' }), ''],
    ['a key that is not printable', () => post('alice', { name: 'ü' }), 'Idempotency-Key'],
  ]
  test.each(refused)('error: INVALID_REQUEST for %s', async (_title, send, path) => {
    const { status, body } = await send()
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(body.details.issues).toEqual([{ path, message: expect.any(String) }])
    expect(body.details.requestId).toMatch(/^req_/)
    expect(await wallets()).toEqual([])
  })

  test('error: INTERNAL for an unknown exception, without its text', async () => {
    const { status, body, text } = await get('/broken')
    expect([status, body.error]).toEqual([500, 'INTERNAL'])
    expect(body.details.requestId).toMatch(/^req_/)
    expect(text).not.toContain('secret')
  })

  test('an Idempotency-Key replays the response and belongs to one body', async () => {
    const first = await post('alice', { name: 'one' })
    const again = await post('alice', { name: 'one' })
    expect([again.status, again.text]).toEqual([201, first.text])
    expect([isReplay(first), isReplay(again)]).toEqual([false, true])
    const other = await post('bob', { name: 'one' })
    expect([other.status, other.body.details.reason]).toEqual([400, 'idempotency_key_reused'])
    expect(await wallets()).toHaveLength(1)
  })

  test('an Idempotency-Key belongs to the account of one caller', async () => {
    const mine = await post('alice', { name: 'one' })
    const theirs = await post('alice', { name: 'one', badge: 'theirs' })
    expect([theirs.status, isReplay(theirs)]).toEqual([201, false])
    expect(theirs.body.id).not.toBe(mine.body.id)
  })

  test('8 duplicates at once: one wallet and 7 replays', async () => {
    const duplicates = await Promise.all(
      Array.from({ length: 8 }, () => post('alice', { name: 'one' })),
    )
    expect(new Set(duplicates.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(duplicates.filter(isReplay)).toHaveLength(7)
    expect(await wallets()).toHaveLength(1)
  })

  test('12 wallets at once where 3 are allowed: a write that has locked its account counts exactly', async () => {
    await world.database.db('account').where({ id: accountId }).update({ max_wallets: 3 })
    const calls = Array.from({ length: 12 }, (_, turn) => post(`user ${turn}`))
    const statuses = (await Promise.all(calls)).map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array<number>(3).fill(201), ...Array<number>(9).fill(403)])
    expect(await wallets()).toHaveLength(3)
  })
})
