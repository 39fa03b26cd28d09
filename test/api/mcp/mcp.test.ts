import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount, createApiKey } from '../../../db/accounts/accounts.js'
import { startChainWorld, type ChainWorld } from '../chainWorld.js'
import { connectClient, type McpClient } from './client.js'

const usdc = 1_000_000n

let world: ChainWorld
let mcp: McpClient
let walletId: string

beforeAll(async () => {
  world = await startChainWorld()
  mcp = await connectClient(world.api.url, world.key)
  const wallet = await world.newWallet({ 'arbitrum-sepolia': 50n * usdc })
  walletId = wallet.id
})
afterAll(async () => {
  await mcp?.client.close()
  await world?.stop()
})

const lend = () => ({ walletId, action: 'lend', amount: 1, chain: 'arbitrum-sepolia' })
const preview = async (args: object = lend()) => {
  const { body, isError } = await mcp.call('preview_intent', { ...args })
  expect([isError, body]).toEqual([false, expect.objectContaining({ dryRun: true })])
  return String(body.previewId)
}
const balanceOf = async (key = world.key) =>
  Number((await world.api.call('GET', '/dashboard/credits', { key })).body.balance)
const countIntents = async () => {
  const [row] = await world.database.db('intent').count<{ count: bigint }[]>('* as count')
  return Number(row?.count)
}
const refusal = (error: string, reason?: string) => ({
  error,
  message: expect.any(String),
  details: expect.objectContaining({
    requestId: expect.stringMatching(/^req_/),
    docs: `/docs/errors#${reason ?? error}`,
  }),
})

async function keyWith(scopes: ('read' | 'write')[]): Promise<string> {
  const { id } = await createAccount(world.database.db, { name: 'other', plan: 'pro' })
  return createApiKey(world.database.db, id, { name: 'test', scopes })
}

const names = [
  ...['get_yields', 'get_balances', 'get_positions', 'preview_intent', 'create_intent'],
  ...['get_intent', 'list_intents', 'explain_failure'],
]

describe('POST /mcp', () => {
  test.each(['auto', 'legacy'] as const)(
    'the official client lists every tool (%s), free of charge, and each message counts once',
    async (mode) => {
      const key = await world.newKey()
      const before = await balanceOf(key)
      const own = await connectClient(world.api.url, key, mode)
      const remaining = () => Number(own.headers().get('x-ratelimit-remaining'))
      await own.client.listTools()
      const first = remaining()
      const { tools } = await own.client.listTools(undefined, { cacheMode: 'refresh' })
      expect(tools.map(({ name }) => name)).toEqual(names)
      for (const { inputSchema, description } of tools) {
        expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
        expect(JSON.stringify(inputSchema)).not.toContain('$ref')
        expect(description).toMatch(/Costs \d credits?\.$/)
      }
      expect(remaining()).toBe(first - 1)
      expect(own.headers().get('x-credits-charged')).toBe('0')
      expect(await balanceOf(key)).toBe(before)
      await own.client.close()
    },
  )

  test('every tool returns the response of its endpoint, at its price', async () => {
    const { key } = world
    const get = (path: string) => world.api.call('GET', `/v1${path}`, { key })
    const pairs: [name: string, args: object, path: string, differs?: object][] = [
      ['get_yields', { chain: 'arbitrum' }, '/yields?chain=arbitrum'],
      ['get_balances', { walletId }, `/balances/${walletId}`, { positions: 'get_positions' }],
      ['get_positions', { walletId, closed: true }, `/positions/${walletId}?closed=true`],
      ['list_intents', { walletId, limit: 2 }, `/intents?walletId=${walletId}&limit=2`],
    ]
    for (const [name, args, path, differs] of pairs) {
      const before = await balanceOf()
      const { body, headers, isError } = await mcp.call(name, { ...args })
      const own = await get(path)
      expect([name, isError, body]).toEqual([name, false, { ...own.body, ...differs }])
      for (const header of ['x-credits-charged', 'x-ratelimit-limit']) {
        expect([name, headers.get(header)]).toEqual([name, own.headers.get(header)])
      }
      const left = (answer: Headers) => Number(answer.get('x-credits-remaining'))
      expect([left(headers), left(own.headers)]).toEqual([before - 1, before - 2])
    }
  })

  test('preview_intent returns the plan of a dry run, free of charge', async () => {
    const before = await balanceOf()
    const { body, headers } = await mcp.call('preview_intent', lend())
    const dry = await world.api.call('POST', '/v1/intents?dryRun=true', {
      ...{ key: world.key, body: lend() },
    })
    const { previewId, expiresAt, ...shown } = body
    expect(shown).toEqual(dry.body)
    expect(previewId).toMatch(/^preview_[0-9a-z]{26}$/)
    expect(Date.parse(String(expiresAt))).not.toBeNaN()
    expect([headers.get('x-credits-charged'), await balanceOf()]).toEqual(['0', before])
  })

  test('create_intent creates the previewed intent once: a repeat returns it without a charge', async () => {
    const previewId = await preview()
    const [before, intents] = [await balanceOf(), await countIntents()]
    const connections = await Promise.all(
      [1, 2, 3].map(() => connectClient(world.api.url, world.key)),
    )
    const results = await Promise.all(
      connections.map((connection) => connection.call('create_intent', { ...lend(), previewId })),
    )
    expect(new Set(results.map(({ body }) => body.id)).size).toBe(1)
    expect(results.map(({ headers }) => headers.get('x-credits-charged')).sort()).toEqual([
      ...['0', '0', '5'],
    ])
    await world.database
      .db('idempotency_key')
      .where({ key: previewId })
      .whereNotNull('expires_at')
      .delete()
    const late = await mcp.call('create_intent', { ...lend(), previewId, amount: '1' })
    expect([late.isError, late.body.error]).toEqual([true, 'INVALID_REQUEST'])
    const again = await mcp.call('create_intent', { ...lend(), previewId })
    expect([again.body.id, again.headers.get('idempotent-replayed')]).toEqual([
      results[0]?.body.id,
      'true',
    ])
    expect([await balanceOf(), await countIntents()]).toEqual([before - 5, intents + 1])
    await Promise.all(connections.map(({ client }) => client.close()))
    const read = await mcp.call('get_intent', { intentId: results[0]?.body.id })
    expect(read.body).toMatchObject({ id: results[0]?.body.id, walletId, action: 'lend' })
  })

  test('create_intent without a fresh preview of its own is rejected, free of charge', async () => {
    const [before, intents] = [await balanceOf(), await countIntents()]
    const never = await mcp.call('create_intent', lend())
    expect(never.body).toEqual(refusal('INVALID_REQUEST'))
    expect(never.body.message).toBe('previewId is required.')
    const unknown = `preview_${'0'.repeat(26)}`
    const made = await mcp.call('create_intent', { ...lend(), previewId: unknown })
    expect(made.body).toEqual(refusal('INVALID_REQUEST', 'preview_unknown'))

    const old = await preview()
    const past = new Date(Date.now() - 1_000)
    await world.database.db('idempotency_key').where({ key: old }).update({ expires_at: past })
    const late = await mcp.call('create_intent', { ...lend(), previewId: old })
    expect(late.body).toEqual(refusal('INVALID_REQUEST', 'preview_unknown'))

    const previewId = await preview()
    const more = await mcp.call('create_intent', { ...lend(), amount: 2, previewId })
    expect(more.body).toEqual(refusal('INVALID_REQUEST', 'preview_differs'))
    const foreign = await connectClient(world.api.url, await keyWith(['read', 'write']))
    const theirs = await foreign.call('create_intent', { ...lend(), previewId })
    expect(theirs.body).toEqual(refusal('INVALID_REQUEST', 'preview_unknown'))
    await foreign.client.close()

    expect([await balanceOf(), await countIntents()]).toEqual([before, intents])
    expect(more.headers.get('x-credits-charged')).toBe('0')
  })

  test('create_intent is rejected when the plan has changed', async () => {
    const previewId = await preview()
    const rows = world.database.db('idempotency_key').where({ key: previewId })
    const [row] = await rows.clone().select<{ body: string }[]>('body')
    const body = row?.body.replaceAll('aave-v3', 'another-market')
    await rows.clone().update({ body })
    const [before, intents] = [await balanceOf(), await countIntents()]
    const results = await mcp.call('create_intent', { ...lend(), previewId })
    expect(results.body).toEqual(refusal('INVALID_REQUEST', 'preview_differs'))
    expect([await balanceOf(), await countIntents()]).toEqual([before, intents])
  })

  test('explain_failure returns the code, the cause, where the money is and what to do', async () => {
    const previewId = await preview()
    const { body } = await mcp.call('create_intent', { ...lend(), previewId })
    const intentId = String(body.id)
    const running = await mcp.call('explain_failure', { intentId })
    expect(running.body).toMatchObject({ intentId, failed: false })
    await world.api.call('POST', `/v1/intents/${intentId}/cancel`, { key: world.key })
    const results = await mcp.call('explain_failure', { intentId })
    expect(results.body).toMatchObject({
      ...{ intentId, failed: true, code: 'CANCELLED', docs: '/docs/errors#CANCELLED' },
      whatHappened: expect.stringContaining('cancelled'),
      whereTheMoneyIs: { inWords: expect.stringContaining('Nothing was sent') },
      whatToDo: 'Create a new intent.',
    })
    expect(results.headers.get('x-credits-charged')).toBe('1')
  })

  test('no result names a call that no tool makes', async () => {
    const created = await mcp.call('create_intent', { ...lend(), previewId: await preview() })
    const intentId = String(created.body.id)
    const { key } = world
    const cancelled = await world.api.call('POST', `/v1/intents/${intentId}/cancel`, { key })
    expect([created.body.status, cancelled.body.actions]).toEqual(['planning', ['retry']])
    const results = [
      created,
      await mcp.call('get_intent', { intentId }),
      await mcp.call('list_intents', { walletId }),
      await mcp.call('explain_failure', { intentId }),
      await mcp.call('get_balances', { walletId }),
    ]
    for (const { isError, body } of results) {
      expect(isError).toBe(false)
      expect(JSON.stringify(body)).not.toMatch(/"actions":|"retryFrom":|\/v1\//)
    }
  })

  test('a call that fails is the result of the tool, in the shape of the API, and costs nothing', async () => {
    const before = await balanceOf()
    const unknownId = `svc_wallet_${'0'.repeat(26)}`
    const missing = await mcp.call('get_balances', { walletId: unknownId })
    expect([missing.isError, missing.body]).toEqual([true, refusal('WALLET_NOT_FOUND')])
    const odd = await mcp.call('get_balances', { walletID: walletId })
    expect(odd.body).toEqual(refusal('INVALID_REQUEST'))
    const more = await mcp.call('get_balances', { walletId, chain: 'base' })
    expect(more.body.message).toBe('chain is not a field of this request.')
    const poor = await mcp.call('preview_intent', { ...lend(), amount: 1_000 })
    expect(poor.body).toEqual(refusal('INSUFFICIENT_FUNDS'))
    expect(missing.headers.get('x-credits-charged')).toBe('0')
    expect(await balanceOf()).toBe(before)
  })

  test('a read-only key does not see the tools that write, and they reject it', async () => {
    const reader = await connectClient(world.api.url, await keyWith(['read']))
    const { tools } = await reader.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(
      names.filter((name) => !['preview_intent', 'create_intent'].includes(name)),
    )
    expect((await reader.call('get_yields')).isError).toBe(false)
    const previewId = `preview_${'0'.repeat(26)}`
    for (const [name, args] of [
      ['preview_intent', lend()],
      ['create_intent', { ...lend(), previewId }],
    ] as const) {
      const results = await reader.call(name, args)
      expect([results.isError, results.body]).toEqual([true, refusal('FORBIDDEN')])
    }
    await reader.client.close()
  })
})

describe('requests to /mcp', () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const post = (request: { headers?: object; key?: string; raw?: string; body?: unknown } = {}) =>
    world.api.call('POST', '/mcp', {
      ...{ key: world.key, body: message, ...request },
      headers: { accept: 'application/json, text/event-stream', ...request.headers },
    })

  test('without a valid key are 401 before any other check', async () => {
    for (const raw of [JSON.stringify(message), '{not json', '[]']) {
      const answer = await post({ key: '', raw })
      expect([answer.status, answer.body.error]).toEqual([401, 'UNAUTHORIZED'])
    }
  })

  test('of a page of another origin are rejected, those of this machine are not', async () => {
    const foreign = await post({ headers: { origin: 'https://evil.example' } })
    expect([foreign.status, foreign.body.error]).toEqual([403, 'FORBIDDEN'])
    for (const origin of ['null', 'http://localhost.evil.example']) {
      expect((await post({ headers: { origin } })).status).toBe(403)
    }
    expect((await post({ headers: { origin: 'http://localhost:6274' } })).status).toBe(200)
  })

  test('with no message or several are INVALID_REQUEST', async () => {
    for (const raw of ['{not json', '', JSON.stringify([message, message])]) {
      const answer = await post({ raw })
      expect([answer.status, answer.body.error]).toEqual([400, 'INVALID_REQUEST'])
    }
  })

  test('by another method are 405', async () => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await world.api.call(method, '/mcp', { key: world.key })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  test('that open a stream are rejected: the service sends none', async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const method = 'subscriptions/listen'
    const answer = await post({
      body: { ...message, method, params: { _meta, notifications: { toolsListChanged: true } } },
      headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
    })
    expect(answer.text).toContain('error')
  })

  test('of an account above its rate are 429 with Retry-After', async () => {
    const key = await world.newKey('free')
    const answers = await Promise.all(Array.from({ length: 101 }, () => post({ key })))
    const refused = answers.filter(({ status }) => status === 429)
    // A minute may end on the way: then nothing is refused, and each is counted all the same.
    for (const { headers } of refused) expect(headers.get('retry-after')).toMatch(/^\d+$/)
    expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true)
  })
})
