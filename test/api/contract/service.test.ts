import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { networks } from '../../../evm/registry.js'
import { startWorld } from '../api.js'
import { startChainWorld, type ChainWorld } from '../chainWorld.js'

const testnets = ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia']

let world: ChainWorld
let key: string
let walletId: string

/** A wallet of alice with 10 USDC on each chain. */
beforeAll(async () => {
  world = await startChainWorld()
  key = world.key
  walletId = (await post('/wallets', { userId: 'alice' })).body.id
  const { address } = (await get('/wallets/alice')).body
  for (const chain of world.chains.registry.chains) {
    await world.chains.mint(chain.name, String(address), 10_000_000n)
  }
  await world.chains.index(world.database.db)
})
afterAll(() => world?.stop())

const post = (path: string, body: object) => world.api.call('POST', `/v1${path}`, { key, body })
const create = (userId: string, metadata = {}) => post('/wallets', { userId, metadata })
const get = (path: string, as = key) => world.api.call('GET', `/v1${path}`, { key: as })
const lend = (more: object = {}) =>
  post('/intents', { walletId, action: 'lend', amount: 1, ...more })
const chainsOf = (entries: unknown) =>
  (entries as { chain: string }[]).map(({ chain }) => chain).sort()

describe('What the service does', () => {
  test('an application creates one multi-chain wallet per end user', async () => {
    const [again, other] = [await post('/wallets', { userId: 'alice' }), await create('bob')]
    expect(again.body.id).toBe(walletId)
    expect(other.body.id).not.toBe(walletId)
    expect(other.body.chains).toHaveLength(3)
  })

  test('it reads the balances of that wallet', async () => {
    const { status, body } = await get(`/balances/${walletId}`)
    expect([status, body.totalValueUsd]).toEqual([200, 30])
  })

  test('it reads lending yields', async () => {
    expect(await get('/yields')).toMatchObject({ status: 200, body: { best: { asset: 'USDC' } } })
  })

  test('it submits intents: the service plans the steps', async () => {
    const executionPlan = { steps: [{ type: 'deposit', sequence: 1 }] }
    expect(await lend()).toMatchObject({ status: 201, body: { executionPlan } })
  })

  test('an intent is executed asynchronously: it is answered before anything is done', async () => {
    world.temporal.started.length = 0
    const { body } = await lend()
    expect(body).not.toHaveProperty('results')
    expect(world.temporal.started).toMatchObject([{ options: { workflowId: body.id } }])
  })

  test('clients poll the intent to follow its progress', async () => {
    const { body } = await lend()
    world.temporal.progress.set(body.id, { status: 'executing', completedSteps: 0 })
    expect((await get(`/intents/${body.id}`)).body.status).toBe('executing')
  })
})

describe('Base address', () => {
  test('it ends with /v1, and paths are relative to it', async () => {
    const paths = ['/wallets/alice', `/balances/${walletId}`, '/yields']
    for (const path of paths) {
      expect((await get(path)).status).toBe(200)
      expect((await world.api.call('GET', path, { key })).status).toBe(404)
    }
  })

  test('staging is isolated from production: neither keys nor users are shared', async () => {
    const other = await startWorld()
    const theirs = await other.newKey()
    expect((await get('/wallets/alice', theirs)).status).toBe(401)
    const answer = await other.api.call('GET', '/v1/wallets/alice', { key: theirs })
    await other.stop()
    expect(answer.status).toBe(404)
  })
})

describe('Versioning', () => {
  test('it is by URL path only: no header and no query choose another', async () => {
    const headers = { 'x-api-version': '2', accept: 'application/vnd.steward.v2+json' }
    const answer = await world.api.call('GET', '/v1/wallets/alice', { key, headers })
    expect([answer.status, answer.body.userId]).toEqual([200, 'alice'])
  })

  test('the current version is `v1`: other path segments do not exist', async () => {
    for (const version of ['v0', 'v2', 'latest']) {
      const answer = await world.api.call('GET', `/${version}/wallets/alice`, { key })
      expect(answer.status).toBe(404)
    }
  })

  test('the published document names the same version', async () => {
    const { body } = await world.api.call('GET', '/openapi.json')
    expect(body).toMatchObject({ info: { version: '1' }, servers: [{ url: '/v1' }] })
  })

  test.each([
    ['POST', '/wallets'],
    ['GET', '/wallets/{userId}'],
    ['GET', '/balances/{walletId}'],
    ['GET', '/yields'],
    ['POST', '/intents'],
    ['GET', '/intents/{intentId}'],
    ['POST', '/demo/fund'],
    ['GET', '/dashboard/credits'],
  ])('`v1` is kept backward compatible: it has %s %s', async (method, path) => {
    const { body } = await world.api.call('GET', '/openapi.json')
    const { paths } = body as unknown as { paths: Record<string, object> }
    expect(Object.keys(paths[path] ?? {})).toContain(method.toLowerCase())
  })
})

describe('Chains', () => {
  test('the service knows no network with real money', () => {
    expect(networks).toEqual(['devnet', 'testnet'])
  })

  test('the service operates on testnets: ethereum-sepolia, arbitrum-sepolia, base-sepolia', async () => {
    expect((await get('/wallets/alice')).body.chains).toEqual(testnets)
  })

  test('balances and yields name the same chains', async () => {
    const [balances, yields] = [await get(`/balances/${walletId}`), await get('/yields')]
    expect(chainsOf(balances.body.chains)).toEqual(testnets.toSorted())
    expect([...new Set(chainsOf(yields.body.rates))]).toEqual(testnets.toSorted())
  })

  test.each(testnets)('%s is a name in requests', async (chain) => {
    expect((await lend({ chain })).body).toMatchObject({ executionPlan: { targetChain: chain } })
  })

  test.each(['ethereum', 'arbitrum', 'base'])('%s is a name in requests', async (chain) => {
    const executionPlan = { targetChain: `${chain}-sepolia` }
    expect((await lend({ chain })).body).toMatchObject({ executionPlan })
  })
})

describe('Requests and responses', () => {
  test('HTTP methods are GET and POST: there are no others', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      for (const path of ['/v1/wallets/alice', '/v1/intents', '/dashboard/credits']) {
        expect((await world.api.call(method, path, { key })).status).toBe(405)
      }
    }
  })

  test.each([
    ['application/json', 201],
    ['application/json; charset=utf-8', 201],
    ['text/plain', 400],
    ['application/x-www-form-urlencoded', 400],
  ])('the body is `Content-Type: application/json`: %s is %d', async (type, status) => {
    const raw = JSON.stringify({ userId: type })
    const headers = { 'content-type': type }
    const answer = await world.api.call('POST', '/v1/wallets', { key, raw, headers })
    expect(answer.status).toBe(status)
  })

  test('requests and responses are UTF-8', async () => {
    const metadata = { имя: 'Žofie', smile: '😀' }
    const { body, headers } = await create('用户', metadata)
    expect(body).toMatchObject({ userId: '用户', metadata })
    expect(headers.get('content-type')).toContain('charset=utf-8')
  })

  test('all responses are JSON', async () => {
    const read = (path: string) => world.api.call('GET', path, { key })
    const paths = ['/v1/yields', '/v1/wallets/unknown', '/v1/wallets/%E0', '/v1/none', '/', '/v2']
    const answers = await Promise.all([...paths.map(read), create('carol'), get('/yields', 'x')])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 404, 400, 201, 401]))
    for (const { headers, text: body } of answers) {
      expect(headers.get('content-type')).toMatch(/^application\/json/)
      expect(JSON.parse(body)).toEqual(expect.any(Object))
    }
  })

  test('any HTTP client works: a key and a path are enough', async () => {
    const headers = { authorization: `Bearer ${key}` }
    const sent = request(`${world.api.url}/v1/wallets/alice`, { headers }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    expect(answer.statusCode).toBe(200)
    expect(JSON.parse(await text(answer))).toMatchObject({ id: walletId })
  })
})

describe('Plans', () => {
  test.each(['free', 'pro', 'enterprise'] as const)('%s is a plan', async (plan) => {
    const request = { key: await world.newKey(plan) }
    expect((await world.api.call('GET', '/dashboard/credits', request)).body.plan).toBe(plan)
  })

  test('the Free plan includes access to testnets and needs no payment', async () => {
    const free = await world.newKey('free')
    const request = { key: free, body: { userId: 'alice' } }
    const { status, body } = await world.api.call('POST', '/v1/wallets', request)
    expect([status, body.chains]).toEqual([201, testnets])
    expect((await get(`/balances/${body.id}`, free)).status).toBe(200)
  })
})
