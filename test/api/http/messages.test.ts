import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type ApiWorld } from '../api.js'

let world: ApiWorld
let key: string
let walletId: string

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
  walletId = (await world.api.call('POST', '/v1/wallets', { key, body: { userId: 'alice' } })).body
    .id
})
afterAll(() => world?.stop())

type IssueView = { path: string; message: string }

/** The message of a refused call, which `details.issues` has sentence by sentence. */
async function refusal(method: string, path: string, body?: unknown) {
  const answer = await world.api.call(method, `/v1${path}`, { key, ...(body ? { body } : {}) })
  const { error, message, details } = answer.body
  const issues = details.issues as IssueView[]
  expect([answer.status, error]).toEqual([400, 'INVALID_REQUEST'])
  expect(message).toBe(issues.map((issue) => issue.message).join(' '))
  return { message, paths: issues.map((issue) => issue.path) }
}

const lend = { action: 'lend', amount: 1 }

describe('a page of a list', () => {
  test.each([
    ['1000', 'limit must be at most 100.'],
    ['9'.repeat(400), 'limit must be at most 100.'],
    ['0', 'limit must be at least 1.'],
    ['-1', 'limit must be at least 1.'],
    ['ten', 'limit must be a whole number.'],
    ['1.5', 'limit must be a whole number.'],
    ['', 'limit must be a whole number.'],
    ['1&limit=2', 'limit must be one text, not several.'],
  ])('?limit=%s: %s', async (limit, message) => {
    for (const list of ['wallets', 'intents', 'yields/history']) {
      expect(await refusal('GET', `/${list}?limit=${limit}`)).toEqual({ message, paths: ['limit'] })
    }
  })

  test.each([
    ['limt=5', 'limt is not a field of this request. Did you mean limit?'],
    ['cursor=x', 'cursor is not from this list. Send the `nextCursor` of a page of this list.'],
    ['status=done', 'is'],
  ])('?%s', async (query, message) => {
    const values = '`pending` or `planning` or `executing` or `completed` or `failed`'
    const expected = message === 'is' ? `status must be ${values}.` : message
    expect((await refusal('GET', `/intents?${query}`)).message).toBe(expected)
  })
})

describe('an amount', () => {
  const more = { withdraw: { chain: 'base' }, bridge: { fromChain: 'base', toChain: 'arbitrum' } }
  const cases: [string, string][] = [
    ['1e-7', 'amount must have at most 6 decimals.'],
    ['1e30', 'amount must be sent as text when it has more than 15 digits.'],
    ['1.0000000000000000001', 'amount is a number that loses digits. Send it as text.'],
    ['1234567890123.45678', 'amount is a number that loses digits. Send it as text.'],
    ['"1e30"', 'amount must be written without an exponent.'],
    ['"1e-7"', 'amount must be written without an exponent.'],
    [`"${'9'.repeat(80)}"`, 'amount is above the maximum of a token.'],
    ['0', 'amount must be above zero.'],
    ['-5', 'amount must be above zero.'],
    ['"1,5"', 'amount must be plain decimal digits, such as 12.5.'],
  ]
  test.each(cases)('%s: %s', async (amount, message) => {
    for (const action of ['lend', 'withdraw', 'bridge'] as const) {
      const fields = JSON.stringify({
        walletId,
        action,
        ...(action === 'lend' ? {} : more[action]),
      })
      const raw = `${fields.slice(0, -1)},"amount":${amount}}`
      const answer = await world.api.call('POST', '/v1/intents', { key, raw })
      expect(answer.body).toMatchObject({ error: 'INVALID_REQUEST', message })
      expect(answer.body.details.issues).toEqual([{ path: 'amount', message }])
    }
  })

  test.each(['lend', 'bridge'] as const)(
    '"max" for a %s: the message names its use',
    async (action) => {
      const body = { walletId, action, amount: 'max', ...(action === 'bridge' ? more.bridge : {}) }
      expect(await refusal('POST', '/intents', body)).toEqual({
        message: 'amount must be a number or decimal text: `max` is for withdrawals.',
        paths: ['amount'],
      })
    },
  )

  test.each([null, true, [], {}])('%j is not an amount', async (amount) => {
    const message = 'amount must be a number or decimal text.'
    const { message: shown } = await refusal('POST', '/intents', { ...lend, walletId, amount })
    expect(shown).toBe(message)
  })
})

describe('field names', () => {
  test.each<[string, object, string]>([
    [
      '/intents',
      { ...lend, walletID: 'w' },
      'walletID is not a field of this request. Did you mean walletId? walletId is required.',
    ],
    [
      '/intents',
      { ...lend, wallet_id: 'w' },
      'wallet_id is not a field of this request. Did you mean walletId? walletId is required.',
    ],
    [
      '/intents',
      { walletId: 'w', actoin: 'lend', amount: 1 },
      'actoin is not a field of this request. Did you mean action? action is required.',
    ],
    [
      '/wallets',
      { userid: 'a' },
      'userid is not a field of this request. Did you mean userId? userId is required.',
    ],
    ['/wallets', { userId: 'a', colour: 'red' }, 'colour is not a field of this request.'],
    ['/intents/intent_none/cancel', { why: 'x' }, 'why is not a field of this request.'],
    ['/intents/intent_none/retry', [], 'The body must be a JSON object.'],
    [
      '/intents',
      { walletId: 'w', ...lend, toChain: 'base' },
      'toChain is not a field of this request. Did you mean chain?',
    ],
    ['/intents', {}, 'walletId is required. action is required. amount is required.'],
    ['/wallets', {}, 'userId is required.'],
    ['/demo/fund', {}, 'walletId is required.'],
    [
      '/intents',
      { action: 'bridge' },
      'walletId is required. amount is required. fromChain is required. toChain is required.',
    ],
    [
      '/intents',
      { action: 'swap' },
      'walletId is required. amount is required. action must be `lend`, `withdraw` or `bridge`.',
    ],
  ])('POST %s %j', async (path, body, message) => {
    expect((await refusal('POST', path, body)).message).toBe(message)
  })

  test('many unknown fields: the message names the first five, details all of them', async () => {
    const body = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`x${at}`, at]))
    const answer = await world.api.call('POST', '/v1/wallets', { key, body })
    expect(answer.body.message).toMatch(/5 more: see details.issues\.$/)
    expect(answer.body.details.issues).toHaveLength(10)
  })

  test('__proto__ is an unknown field', async () => {
    const raw = '{"userId":"a","__proto__":{}}'
    const { body } = await world.api.call('POST', '/v1/wallets', { key, raw })
    expect(body.message).toBe('__proto__ is not a field of this request.')
  })
})

describe('values', () => {
  test.each<[string, object, string]>([
    ['/wallets', { userId: 1 }, 'userId must be text.'],
    ['/wallets', { userId: '' }, 'userId must not be empty.'],
    ['/wallets', { userId: 'x'.repeat(129) }, 'userId must be at most 128 characters long.'],
    ['/wallets', { userId: '\0' }, 'userId has invalid characters.'],
    ['/wallets', { userId: 'a\ufffd' }, 'userId has invalid characters.'],
    ['/wallets', { userId: ' ' }, 'userId must not be blank.'],
    ['/wallets', { userId: '.' }, 'userId must not be `.` or `..`.'],
    ['/wallets', { userId: '..' }, 'userId must not be `.` or `..`.'],
    ['/wallets', { userId: 'a', metadata: 1 }, 'metadata must be an object.'],
    ['/wallets', [], 'The body must be a JSON object.'],
    ['/intents', [], 'The body must be a JSON object.'],
    ['/intents', { ...lend, walletId: 'w', asset: 'ETH' }, 'asset must be `USDC`.'],
    ['/intents', { ...lend, walletId: 'w', optimize: 'x' }, 'optimize must be `apy` or `net`.'],
    [
      '/intents',
      { ...lend, walletId: 'w', optimize: 'net', horizonDays: 1.5 },
      'horizonDays must be a whole number.',
    ],
    [
      '/intents',
      { ...lend, walletId: 'w', optimize: 'net', horizonDays: 5_000 },
      'horizonDays must be at most 3650.',
    ],
    [
      '/intents',
      { ...lend, walletId: 'w', horizonDays: 5 },
      'horizonDays is only for optimize: "net".',
    ],
    [
      '/intents',
      { ...lend, walletId: 'w', chain: 'solana' },
      'chain must be `ethereum-sepolia` or `arbitrum-sepolia` or `base-sepolia`.',
    ],
    [
      '/intents',
      { ...lend, action: 'bridge', walletId: 'w', fromChain: 'base', toChain: 'base-sepolia' },
      'toChain must be another chain than fromChain.',
    ],
    [
      '/intents',
      { ...lend, walletId: 'w', metadata: { simulate: 'X' } },
      'metadata.simulate must be one of BRIDGE_FAILED, BRIDGE_TIMEOUT, SWAP_FAILED, DEPOSIT_FAILED, WITHDRAW_FAILED, NETWORK_ERROR, RPC_ERROR, INSUFFICIENT_FUNDS.',
    ],
  ])('POST %s %j: %s', async (path, body, message) => {
    const known = { ...body, ...('metadata' in body && path === '/intents' ? { walletId } : {}) }
    const sent = Array.isArray(body) ? body : known
    expect((await refusal('POST', path, sent)).message).toBe(message)
  })
})

describe('wait', () => {
  test.each(['1000', '61', '-1', '1.5', 'soon'])('?wait=%s: names range and unit', async (wait) => {
    for (const path of ['/intents/intent_none', '/demo/fund/fund_none']) {
      expect(await refusal('GET', `${path}?wait=${wait}`)).toEqual({
        message: 'wait must be a whole number of seconds from 0 to 60.',
        paths: ['wait'],
      })
    }
  })
})

describe('an empty body', () => {
  const empty = {
    message: 'The body is empty. Send a JSON object.',
    details: { issues: [{ path: '' }] },
  }
  test.each(['/wallets', '/intents', '/demo/fund', '/webhooks'])('POST %s', async (path) => {
    const headers = { 'content-type': 'application/json' }
    for (const given of [{ headers }, { headers, raw: '' }, {}]) {
      const { status, body } = await world.api.call('POST', `/v1${path}`, { key, ...given })
      expect([status, body]).toEqual([400, expect.objectContaining({ error: 'INVALID_REQUEST' })])
      expect(body).toMatchObject(empty)
    }
  })
})

describe('a withdrawal without a chain', () => {
  test('of a wallet that lends nothing: all chains', async () => {
    const body = { walletId, action: 'withdraw', amount: 1 }
    expect(await refusal('POST', '/intents', body)).toEqual({
      message: 'chain is required. Use one of: ethereum-sepolia, arbitrum-sepolia, base-sepolia.',
      paths: ['chain'],
    })
  })
})

describe('types of events', () => {
  test.each(['created', 'intent.created,created', 'intent.created&type=x', ''])(
    'GET /events?type=%s: names the types and the field',
    async (type) => {
      const { message, paths } = await refusal('GET', `/events?type=${type}`)
      expect(paths).toEqual(['type'])
      expect(message).toMatch(/^type must be `intent\.created` or .*`wallet\.funded`/)
    },
  )
})

describe('filters of rates', () => {
  test.each(['yields', 'yields/history'])('GET /%s: unknown names', async (list) => {
    expect(await refusal('GET', `/${list}?chain=solana&asset=DAI&protocol=aave`)).toEqual({
      message:
        'chain must be `ethereum-sepolia` or `arbitrum-sepolia` or `base-sepolia`. asset must be `USDC` or `TUSD`. protocol must be `aave-v3` or `compound-v3` or `erc4626`.',
      paths: ['chain', 'asset', 'protocol'],
    })
  })
})

describe('ids', () => {
  const get = async (path: string) => (await world.api.call('GET', `/v1${path}`, { key })).body

  test('the id of a wallet where its userId belongs', async () => {
    const wallet = {
      error: 'WALLET_NOT_FOUND',
      message: 'This is the id of a wallet. Send the userId that it was created with.',
    }
    expect(await get(`/wallets/${walletId}`)).toMatchObject(wallet)
    // The same for one that does not exist: nothing is said about it.
    expect(await get(`/wallets/svc_wallet_${'0'.repeat(26)}`)).toMatchObject(wallet)
  })

  test('a userId where the id of its wallet belongs', async () => {
    const message =
      'This is not the id of a wallet: those begin with svc_wallet_. Send the id, not the userId.'
    for (const path of ['/balances/alice', '/positions/alice']) {
      expect(await get(path)).toMatchObject({ error: 'WALLET_NOT_FOUND', message })
    }
    for (const [path, fields] of [['/intents', lend] as const, ['/demo/fund', {}] as const]) {
      const body = { walletId: 'alice', ...fields }
      const answer = await world.api.call('POST', `/v1${path}`, { key, body })
      expect(answer.body).toMatchObject({ error: 'WALLET_NOT_FOUND', message })
    }
  })

  test.each([
    ['/wallets/bob', 'This userId has no wallet. Create one with POST /v1/wallets.'],
    [
      '/balances/svc_wallet_none',
      'There is no wallet with this id. Use the id that POST /v1/wallets returned.',
    ],
    ['/intents/intent_none', 'There is no intent with this id.'],
    ['/nothing', 'There is no endpoint at this path. See /docs.'],
  ])('%s: %s', async (path, message) => {
    expect((await get(path)).message).toBe(message)
  })
})
