import { afterEach, describe, expect, test } from 'vitest'
import * as sdk from '@steward/sdk'
import { Steward, StewardError, type RetryFacts, type StewardOptions } from '@steward/sdk'
import { errorCatalog } from '../../../domain/errors.js'
import {
  errorOf,
  startScripted,
  type ScriptedReply,
  type Scripted,
  type SeenRequest,
} from './scripted.js'

let server: Scripted | undefined
afterEach(async () => {
  await server?.stop()
  server = undefined
})

const intent = { id: 'intent_1', status: 'planning' }

/** Opens a client of a scripted server and records its requests and retries. */
async function open(
  answer: (seen: SeenRequest, count: number) => ScriptedReply,
  options: StewardOptions = {},
) {
  server = await startScripted(answer)
  const retries: RetryFacts[] = []
  const hooks = { onRetry: (facts: RetryFacts) => void retries.push(facts) }
  const steward = new Steward({ apiKey: 'svc_sk_1', baseUrl: server.url, hooks, ...options })
  return { steward, retries, seen: server.seen }
}

const failureOf = (call: PromiseLike<unknown>): Promise<StewardError> =>
  Promise.resolve(call).then(
    () => Promise.reject(new Error('The call did not fail.')),
    (error: unknown) => error as StewardError,
  )

describe('a call', () => {
  test('sends the parameters with the key and keeps unknown fields of the response', async () => {
    const answer = { ...intent, status: 'settling', mood: { of: ['the day'] } }
    const { steward, seen } = await open(() => ({ status: 201, body: answer }))
    const lent = await steward.intents.lend({ walletId: 'w', amount: '0.10', metadata: { a: 1 } })
    expect(lent).toEqual(answer)
    expect(seen).toEqual([
      {
        ...{ method: 'POST', path: '/v1/intents' },
        headers: expect.objectContaining({ authorization: 'Bearer svc_sk_1' }),
        body: { action: 'lend', walletId: 'w', amount: '0.10', metadata: { a: 1 } },
      },
    ])
  })

  test.each(['', '.', '..'])('with the id %j fails, and sends nothing', async (id) => {
    const { steward, seen, retries } = await open(() => ({ body: intent }))
    const { wallets, balances, intents, webhooks, demo } = steward
    const first = (events: AsyncIterable<unknown>) => events[Symbol.asyncIterator]().next()
    const calls = [wallets.get(id), balances.get(id), intents.get(id), intents.cancel(id)]
    const others = [intents.waitForCompletion(id), first(intents.events(id)), demo.get(id)]
    const ofWebhooks = [webhooks.deliveries(id), webhooks.resend('wh_1', id)]
    for (const call of [...calls, ...others, ...ofWebhooks]) {
      expect((await failureOf(call)).code).toBe('INVALID_ID')
    }
    expect([seen, retries]).toEqual([[], []])
  })

  test.each([
    ['', '/v1/wallets/a%2Fb%3F'],
    ['/', '/v1/wallets/a%2Fb%3F'],
    ['/v1', '/v1/wallets/a%2Fb%3F'],
    ['/v1/', '/v1/wallets/a%2Fb%3F'],
    ['/money/v1', '/money/v1/wallets/a%2Fb%3F'],
  ])('goes to baseUrl with %j at its end as %s', async (end, path) => {
    const { seen } = await open(() => ({}))
    const steward = new Steward({ apiKey: 'svc_sk_1', baseUrl: `${server?.url}${end}` })
    await steward.wallets.get('a/b?')
    expect(seen.map((one) => one.path)).toEqual([path])
  })

  test('of a preview has no idempotency key', async () => {
    const { steward, seen } = await open(() => ({ body: { dryRun: true } }))
    await steward.intents.preview({ action: 'lend', walletId: 'w', amount: '1' })
    await steward.intents.previewRetry('i/1')
    expect(seen.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/intents?dryRun=true', { action: 'lend', walletId: 'w', amount: '1' }],
      ['/v1/intents/i%2F1/retry?dryRun=true', {}],
    ])
    for (const { headers } of seen) expect(headers).not.toHaveProperty('idempotency-key')
  })

  test('formats lists and times for the API', async () => {
    const { steward, seen } = await open(() => ({ body: { data: [] } }))
    const createdAfter = new Date(0)
    await steward.intents.list({ status: ['failed', 'completed'], createdAfter, limit: 5 })
    const query = 'status=failed%2Ccompleted&createdAfter=1970-01-01T00%3A00%3A00.000Z&limit=5'
    expect(seen[0]?.path).toBe(`/v1/intents?${query}`)
  })

  test.each([
    [1, 1],
    [0.1, 0.1],
    ['0.10', '0.10'],
    ['max', 'max'],
    [12n, '12'],
    ['123456789012345678.123456', '123456789012345678.123456'],
    [123456789012345678901234567890n, '123456789012345678901234567890'],
  ])('sends the amount %p as %p, digit by digit', async (amount, sent) => {
    const { steward, seen } = await open(() => ({ body: intent }))
    await steward.intents.withdraw({ walletId: 'w', amount, chain: 'base' })
    expect(seen[0]?.body).toMatchObject({ amount: sent })
  })

  test.each([NaN, Infinity])('error: %p is not an amount, and nothing is sent', async (amount) => {
    const { steward, seen } = await open(() => ({}))
    await expect(steward.intents.lend({ walletId: 'w', amount })).rejects.toThrow(TypeError)
    expect(seen).toEqual([])
  })

  test('rejects with the reason of its signal, also between two attempts', async () => {
    const controller = new AbortController()
    const { steward, seen } = await open(
      () => ({ status: 503, headers: { 'retry-after': '60' }, body: errorOf('UNAVAILABLE') }),
      { hooks: { onRetry: () => controller.abort(new Error('enough')) } },
    )
    const call = steward.credits.get({ signal: controller.signal })
    await expect(call).rejects.toThrow('enough')
    expect(seen).toHaveLength(1)
  })
})

describe('an error', () => {
  const codes = Object.keys(errorCatalog).filter((code) => code !== 'MISCONFIGURED')
  const nameOf = (code: string) => {
    const words = code.toLowerCase().split('_')
    const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
    return name.endsWith('Error') ? name : `${name}Error`
  }
  const classes = sdk as unknown as Record<string, typeof StewardError>

  test.each(codes)('%s has its own class', (code) => {
    expect(Object.getPrototypeOf(classes[nameOf(code)])).toBeInstanceOf(Function)
    expect(classes[nameOf(code)]?.prototype).toBeInstanceOf(StewardError)
  })

  test.each(codes.filter((code) => !/_FAILED|TIMEOUT|CANCELLED/.test(code)))(
    '%s is thrown as its class, with the facts of the response',
    async (code) => {
      const status = errorCatalog[code as keyof typeof errorCatalog].status
      const body = errorOf(code, { reason: 'no_route', more: 1 })
      const { steward } = await open(() => ({ status, body }), { maxRetries: 0 })
      const error = await failureOf(steward.yields.list())
      expect(error).toBeInstanceOf(classes[nameOf(code)])
      expect(error.name).toBe(nameOf(code))
      expect(error).toMatchObject({ code, status, reason: 'no_route', message: 'In words.' })
      expect(error).toMatchObject({ requestId: 'req_test', details: { more: 1 } })
    },
  )

  test('with an unknown code is a StewardError', async () => {
    const { steward } = await open(() => ({ status: 418, body: errorOf('TEAPOT') }))
    const error = await failureOf(steward.yields.list())
    expect(Object.getPrototypeOf(error)).toBe(StewardError.prototype)
    expect(error).toMatchObject({ code: 'TEAPOT', status: 418, name: 'TeapotError' })
  })

  test('of a proxy is named by its status, without the body in the message', async () => {
    const { steward } = await open(() => ({ status: 403, body: '<html>secret</html>' }))
    const error = await failureOf(steward.yields.list())
    expect(error).toMatchObject({ code: 'HTTP_403', status: 403, requestId: undefined })
    expect(error.message).not.toContain('secret')
  })

  test('error: redirects are not followed', async () => {
    const { steward, seen } = await open(() => ({ status: 301, headers: { location: '/else' } }))
    const error = await failureOf(steward.demo.fund('w'))
    expect([error.code, seen.length]).toEqual(['HTTP_301', 1])
  })

  test('error: a response other than JSON is rejected', async () => {
    const { steward } = await open(() => ({ body: '<html>' }))
    expect(await failureOf(steward.credits.get())).toMatchObject({ code: 'INVALID_ANSWER' })
  })
})

describe('a call that fails', () => {
  test.each(['cut', 408, 429, 500, 502, 503, 504] as const)(
    '%s: is made again, and a POST by the same Idempotency-Key',
    async (how) => {
      const { steward, seen, retries } = await open((_seen, count) => {
        if (count > 2) return { status: 201, body: intent }
        return how === 'cut' ? how : { status: how, body: {}, headers: { 'retry-after': '0' } }
      })
      expect(await steward.intents.lend({ walletId: 'w', amount: 1 })).toEqual(intent)
      const keys = seen.map(({ headers }) => headers['idempotency-key'])
      expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0], keys[0]])
      expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2])
    },
  )

  test('each call has its own idempotency key, or the given one', async () => {
    const { steward, seen } = await open(() => ({ body: intent }))
    await steward.intents.lend({ walletId: 'w', amount: 1 })
    await steward.intents.lend({ walletId: 'w', amount: 1 })
    await steward.intents.lend({ walletId: 'w', amount: 1 }, { idempotencyKey: 'order-7' })
    const keys = seen.map(({ headers }) => headers['idempotency-key'])
    expect(new Set(keys).size).toBe(3)
    expect(keys[2]).toBe('order-7')
  })

  test.each([400, 401, 402, 403, 404, 405])('%i: is not retried', async (status) => {
    const { steward, seen } = await open(() => ({ status, body: errorOf('NOT_FOUND') }))
    await failureOf(steward.intents.cancel('i'))
    expect(seen).toHaveLength(1)
  })

  test('waits for Retry-After, otherwise with full jitter', async () => {
    const { steward, retries } = await open((_seen, count) => {
      if (count === 1) return { status: 503, headers: { 'retry-after': '1' } }
      return count === 2 ? { status: 503 } : { body: intent }
    })
    await steward.intents.get('i')
    expect(retries[0]?.waitMs).toBe(1_000)
    expect(retries[1]?.waitMs).toBeLessThan(1_000)
  })

  test('error: a Retry-After above a minute is thrown', async () => {
    const details = { limit: 5, window: '1 day', retryAfter: 61 }
    const { steward, seen } = await open(() => ({
      ...{ status: 429, headers: { 'retry-after': '61' } },
      body: errorOf('RATE_LIMITED', details),
    }))
    const error = await failureOf(steward.demo.fund('w'))
    expect(error).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 61, details })
    expect(seen).toHaveLength(1)
  })

  test('error: CONNECTION contains the idempotency key for a later repetition', async () => {
    const { steward, seen } = await open(() => 'cut', { maxRetries: 1 })
    const error = await failureOf(steward.intents.lend({ walletId: 'w', amount: 1 }))
    expect(error).toBeInstanceOf(sdk.ConnectionError)
    expect(error.idempotencyKey).toBe(seen[0]?.headers['idempotency-key'])
    expect(seen).toHaveLength(2)
  })

  test('error: TIMEOUT without a complete response in time', async () => {
    const { steward, seen } = await open(
      (_seen, count) =>
        count === 1
          ? 'silent'
          : (response) => void response.writeHead(200, { 'content-length': 99 }).write('{'),
      { maxRetries: 1, timeoutMs: 300 },
    )
    expect(await failureOf(steward.credits.get())).toBeInstanceOf(sdk.TimeoutError)
    expect(seen).toHaveLength(2)
  })

  test('hooks receive each attempt without key and body, and their exceptions are ignored', async () => {
    const received: unknown[] = []
    const note = (facts: unknown) => {
      received.push(facts)
      throw new Error('a broken log')
    }
    const { steward } = await open(
      (_seen, count) => ({
        ...{ status: count === 1 ? 500 : 200, headers: { 'x-request-id': `req_${count}` } },
        body: intent,
      }),
      { hooks: { onRequest: note, onResponse: note, onRetry: note } },
    )
    await steward.intents.lend({ walletId: 'w', amount: 987_654 })
    const call = { method: 'POST', path: '/v1/intents' }
    const ms = expect.any(Number)
    expect(received).toEqual([
      { ...call, attempt: 1 },
      { ...call, attempt: 1, status: 500, requestId: 'req_1', ms },
      { ...call, attempt: 1, error: expect.any(StewardError), waitMs: expect.any(Number) },
      { ...call, attempt: 2 },
      { ...call, attempt: 2, status: 200, requestId: 'req_2', ms },
    ])
    expect(JSON.stringify(received)).not.toMatch(/svc_sk|987654/)
  })
})

describe('new Steward', () => {
  const scope = globalThis as { window?: object }
  afterEach(() => {
    delete scope.window
    delete process.env.STEWARD_API_KEY
    delete process.env.STEWARD_BASE_URL
  })

  test('reads key and base URL from the environment', async () => {
    const { seen } = await open(() => ({}))
    process.env.STEWARD_API_KEY = 'svc_sk_2'
    process.env.STEWARD_BASE_URL = server?.url
    await new Steward().credits.get()
    expect(seen[0]?.headers.authorization).toBe('Bearer svc_sk_2')
    expect(seen[0]?.path).toBe('/dashboard/credits')
  })

  test.each([
    [{ baseUrl: 'http://a' }, 'apiKey'],
    [{ apiKey: 'svc_sk_1' }, 'baseUrl'],
    [{ apiKey: 'svc_sk_1', baseUrl: 'nowhere' }, 'URL'],
  ])('error: %j without %s', (options, what) => {
    expect(() => new Steward(options)).toThrow(what)
  })

  test('error: an API key in a browser; a read token is accepted', async () => {
    const { seen } = await open(() => ({}))
    scope.window = { document: {} }
    const baseUrl = server?.url
    expect(() => new Steward({ apiKey: 'svc_sk_1', baseUrl })).toThrow('browser')
    await new Steward({ apiKey: 'svc_rt_1', baseUrl }).intents.get('i')
    expect(seen[0]?.headers['user-agent']).not.toContain('steward')
  })
})
