import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChainWorld, type ChainWorld } from '../../chainWorld.js'

let world: ChainWorld
let ids: { userId: string; walletId: string; intentId: string }

beforeAll(async () => {
  world = await startChainWorld()
  const { id: walletId } = await world.newWallet({ 'arbitrum-sepolia': 9_000_000n })
  const intent = await world.lend(walletId, 1)
  ids = { userId: 'user%201', walletId, intentId: intent.body.id }
})
afterAll(() => world?.stop())

type Ids = typeof ids
type DocumentedEndpoint = {
  method: 'GET' | 'POST'
  path: string
  body?: (ids: Ids) => object
  purpose: string
  status: 200 | 201
  credits: number
  /** A method that the path does not have. */
  never: string
}
/** The table of the document. Where it lists no credits, none are taken. */
const endpoints: DocumentedEndpoint[] = [
  {
    ...{ method: 'POST', path: '/v1/wallets', body: () => ({ userId: 'new' }), status: 201 },
    ...{ purpose: 'creates a wallet', credits: 1, never: 'PUT' },
  },
  {
    ...{ method: 'GET', path: '/v1/wallets/:userId', purpose: 'gets a wallet by userId' },
    ...{ status: 200, credits: 1, never: 'POST' },
  },
  {
    ...{ method: 'GET', path: '/v1/balances/:walletId', purpose: 'gets balances' },
    ...{ status: 200, credits: 1, never: 'POST' },
  },
  {
    ...{ method: 'GET', path: '/v1/yields', purpose: 'gets available APYs' },
    ...{ status: 200, credits: 1, never: 'POST' },
  },
  {
    ...{ method: 'POST', path: '/v1/intents', purpose: 'creates and executes an intent' },
    ...{ body: ({ walletId }) => ({ walletId, action: 'lend', amount: 1 }), status: 201 },
    ...{ credits: 5, never: 'PUT' },
  },
  {
    ...{ method: 'GET', path: '/v1/intents/:intentId', purpose: 'gets intent state' },
    ...{ status: 200, credits: 1, never: 'POST' },
  },
  {
    ...{ method: 'POST', path: '/v1/demo/fund', purpose: 'funds a testnet wallet' },
    ...{ body: ({ walletId }) => ({ walletId }), status: 201, credits: 0, never: 'GET' },
  },
  {
    ...{ method: 'GET', path: '/dashboard/credits', purpose: 'reads the credit account' },
    ...{ status: 200, credits: 0, never: 'POST' },
  },
]

const get = (path: string) => world.api.call('GET', path, { key: world.key })
const pathOf = ({ path }: DocumentedEndpoint) =>
  path.replace(/:(\w+)/, (_, name: keyof Ids) => ids[name])
const call = (endpoint: DocumentedEndpoint, method: string = endpoint.method) => {
  const content = method === 'GET' ? undefined : (endpoint.body?.(ids) ?? {})
  return world.api.call(method, pathOf(endpoint), { key: world.key, body: content })
}
const balance = async () => Number((await get('/dashboard/credits')).body.balance)

describe('Endpoints', () => {
  test.each(endpoints)('$method $path $purpose: $status', async (endpoint) => {
    expect((await call(endpoint)).status).toBe(endpoint.status)
  })

  test.each(endpoints)('$method $path costs $credits credits', async (endpoint) => {
    const before = await balance()
    await call(endpoint)
    expect(before - (await balance())).toBe(endpoint.credits)
  })

  test.each(endpoints)('$method $path: not by $never', async (endpoint) => {
    expect((await call(endpoint, endpoint.never)).status).toBe(405)
  })

  test.each(endpoints)('$method $path requires authentication', async (endpoint) => {
    const { method, body } = endpoint
    const request = body ? { body: body(ids) } : {}
    expect((await world.api.call(method, pathOf(endpoint), request)).status).toBe(401)
  })
})

describe('GET /balances/:walletId', () => {
  test('path parameter: `walletId` (string), the id of a wallet', async () => {
    const { body } = await get(`/v1/balances/${ids.walletId}`)
    expect(body.walletId).toBe(ids.walletId)
  })

  test('path parameter: an id without a wallet is 404', async () => {
    expect((await get('/v1/balances/svc_wallet_none')).status).toBe(404)
  })

  test('response 200: the balances object', async () => {
    const { status, body } = await get(`/v1/balances/${ids.walletId}`)
    const fields = ['walletId', 'address', 'chains', 'totalValueUsd', 'lentUsd', 'positions']
    expect([status, Object.keys(body).sort()]).toEqual([200, fields.sort()])
  })
})

describe('GET /yields', () => {
  test('no parameters are needed', async () => {
    expect((await get('/v1/yields')).status).toBe(200)
  })

  test('response 200: the yield rates object (`rates`, `best`)', async () => {
    const { status, body } = await get('/v1/yields')
    expect([status, Object.keys(body).sort()]).toEqual([200, ['best', 'rates']])
  })
})

describe('GET {host_url}/dashboard/credits', () => {
  test('the path has no `/v1` segment', async () => {
    expect((await get('/v1/dashboard/credits')).status).toBe(404)
  })

  test('response 200: balance, totalPurchased, totalUsed, plan', async () => {
    const { status, body } = await get('/dashboard/credits')
    const fields = ['balance', 'plan', 'totalPurchased', 'totalUsed']
    expect([status, Object.keys(body).sort()]).toEqual([200, fields])
  })
})
