import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorSchema } from '../../../api/schemas/errors.js'
import { toJson, toTemplate } from '../../../api/docs/openapi.js'
import { errorsOf } from '../../../api/docs/responses.js'
import { errorCatalog, type ErrorCode } from '../../../domain/errors.js'
import { document, documented, expectDocumented } from '../../support/openapi.js'
import { startWorld, type ApiWorld } from '../api.js'

let world: ApiWorld
let key: string

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
})
afterAll(() => world.stop())

const routes = documented.map(({ route, path }) => ({ route, path }))
const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  (['get', 'post'] as const).flatMap((method) => {
    const operation = item[method]
    return operation ? [{ title: `${method.toUpperCase()} ${path}`, path, operation }] : []
  }),
)
/** Why an intent or a funding failed, why a process did not start, and that there is no such path or method. */
const neverAnswered = [
  ...['BRIDGE_FAILED', 'BRIDGE_TIMEOUT', 'CANCELLED', 'DEPOSIT_FAILED', 'FUNDING_FAILED'],
  ...['METHOD_NOT_ALLOWED', 'MISCONFIGURED', 'NETWORK_ERROR', 'NOT_FOUND', 'RPC_ERROR'],
  'SWAP_FAILED',
  'WITHDRAW_FAILED',
]

const get = (path: string) => fetch(world.api.url + path)

describe('the document', () => {
  test.each([
    'POST /wallets',
    'GET /wallets/{userId}',
    'GET /balances/{walletId}',
    'GET /yields',
    'POST /intents',
    'GET /intents/{intentId}',
    'POST /demo/fund',
    'GET /dashboard/credits',
  ])('has %s', (title) => {
    expect(operations.map((operation) => operation.title)).toContain(title)
  })

  test('has every endpoint that is mounted', () => {
    const mounted = routes.map(
      ({ route }) => `${route.method.toUpperCase()} ${toTemplate(route.spec.path)}`,
    )
    expect(operations.map(({ title }) => title).sort()).toEqual(mounted.sort())
  })

  test('describes every parameter of every operation', () => {
    const shared = document.components?.parameters ?? {}
    const bare = operations.flatMap(({ title, operation }) =>
      (operation.parameters ?? []).flatMap((parameter) => {
        const own = '$ref' in parameter ? shared[parameter.$ref.split('/').at(-1) ?? ''] : parameter
        return own && 'description' in own && own.description ? [] : [[title, parameter]]
      }),
    )
    expect(bare).toEqual([])
  })

  test('is the file in docs/: run `npm run openapi` otherwise', async () => {
    const file = new URL('../../../docs/reference/openapi.json', import.meta.url)
    expect(await readFile(file, 'utf8')).toBe(toJson(document))
  })

  test('documents the headers of every response', () => {
    const responses = [
      ...operations.flatMap(({ operation }) => Object.values<object>(operation.responses ?? {})),
      ...Object.values(document.components?.responses ?? {}),
    ].filter((response) => !('$ref' in response))
    expect(responses.length).toBeGreaterThan(10)
    for (const { headers } of responses as { headers: object }[]) {
      expect(Object.keys(headers)).toEqual(
        expect.arrayContaining(['X-Request-Id', 'X-RateLimit-Reset', 'X-Credits-Charged']),
      )
    }
  })

  test('has every error code that a call can return', () => {
    const answered = new Set(routes.flatMap(({ route }) => errorsOf(route)))
    const others = Object.keys(errorCatalog).filter((code) => !answered.has(code as ErrorCode))
    expect(others.sort()).toEqual(neverAnswered)
  })

  test('accepts an Idempotency-Key on every POST', () => {
    const posts = operations.filter(({ title }) => title.startsWith('POST'))
    for (const { operation } of posts) {
      expect(operation.parameters).toContainEqual({
        $ref: '#/components/parameters/IdempotencyKey',
      })
    }
  })
})

type Links = Record<string, { operationId: string; parameters?: object; requestBody?: object }>

describe('its links', () => {
  const links = operations.flatMap(({ operation }) =>
    Object.values(operation.responses ?? {}).flatMap((response) =>
      Object.values((response as { links?: Links }).links ?? {}),
    ),
  )
  const targets = new Set(links.map(({ operationId }) => operationId))

  test('lead to every operation that takes an id of an earlier response', () => {
    const taking = operations.filter(({ path }) => path.includes('{'))
    expect(taking.length).toBeGreaterThan(12)
    for (const { operation } of taking) expect(targets).toContain(operation.operationId)
    expect(targets).toContain('fundWallet')
    expect(targets).toContain('createIntent')
  })

  test('fill all path parameters, from fields of the body', () => {
    for (const { operationId, parameters = {}, requestBody = {} } of links) {
      const target = operations.find(({ operation }) => operation.operationId === operationId)
      const named = [...(target?.path ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(Object.keys(parameters)).toEqual(expect.arrayContaining(named))
      expect(JSON.stringify({ parameters, requestBody })).toContain('$response.body#/')
    }
  })
})

describe('its examples', () => {
  test.each(routes.map(({ route, path }) => [`${route.method} ${path}`, route] as const))(
    'of %s are valid',
    (_title, { method, spec }) => {
      const { requests = {}, responses } = spec.docs
      for (const body of Object.values(requests)) spec.body.parse(body)
      for (const { schema, examples } of Object.values(responses)) {
        for (const example of Object.values(examples)) schema.parse(example)
        expect(Object.keys(examples)).not.toHaveLength(0)
      }
      const needsBody = method === 'post' && !spec.body.safeParse(undefined).success
      if (needsBody) expect(Object.keys(requests)).not.toHaveLength(0)
    },
  )

  test('of errors are valid', () => {
    const { responses = {} } = document.components ?? {}
    const examples = Object.values(responses).flatMap((response) => {
      const { content } = response as { content: Record<string, { examples: object }> }
      return Object.values(content['application/json']?.examples ?? {}) as {
        value: { error: Parameters<typeof errorSchema>[0] }
      }[]
    })
    expect(examples.length).toBeGreaterThan(8)
    for (const { value } of examples) errorSchema(value.error).parse(value)
  })
})

describe('answers', () => {
  const walletId = 'svc_wallet_00000000000000000000000000'
  const calls: [method: string, path: string, body: unknown][] = [
    ['POST', '/v1/wallets', { userId: 'documented', metadata: { a: [1, null] } }],
    ['POST', '/v1/wallets', { userId: 'documented', metadata: { a: [1, null] } }],
    ['POST', '/v1/wallets', { userId: 'documented' }],
    ['POST', '/v1/wallets', { userId: '' }],
    ['GET', '/v1/wallets/documented', undefined],
    ['GET', '/v1/wallets/unknown', undefined],
    ['POST', '/v1/intents', { walletId, action: 'lend', amount: 1 }],
    ['POST', '/v1/intents', { walletId, action: 'lend', amount: 'x' }],
    ['GET', '/v1/intents/intent_0', undefined],
    ['POST', '/v1/demo/fund', { walletId }],
    ['GET', '/v1/nothing', undefined],
    ['DELETE', '/v1/wallets', undefined],
  ]

  test.each(calls)('%s %s %j is documented', async (method, path, body) => {
    for (const as of [{ key }, {}]) {
      const answer = await world.api.call(method, path, { ...as, ...(body ? { body } : {}) })
      expectDocumented(method, path, answer.status, answer.headers, answer.body)
    }
  })
})

describe('GET /openapi.json', () => {
  test('is the document, without a key', async () => {
    const response = await get('/openapi.json')
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await response.text()).toBe(toJson(document))
  })
})

describe('GET /docs/api', () => {
  const files = ['/docs/api', '/docs/api.js', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js']

  test('returns the page, its script and its assets', async () => {
    for (const file of files) expect((await get(file)).status).toBe(200)
    expect((await get('/docs/package.json')).status).toBe(404)
  })

  test('the page may connect to its own origin only', async () => {
    const policy = (await get('/docs/api')).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("connect-src 'self'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toMatch(/https?:/)
  })

  test('the files of the page name no other origin', async () => {
    for (const file of ['/docs/api', '/docs/api.js']) {
      expect(await (await get(file)).text()).not.toMatch(/(https?:)?\/\/[a-z]/i)
    }
    expect(await (await get('/docs/api.js')).text()).toContain('validatorUrl: null')
    const css = await (await get('/docs/swagger-ui.css')).text()
    expect(css).not.toMatch(/url\(["']?(https?:)?\/\//)
    expect(css).not.toContain('@import')
  })

  test('the rendered document has no links to other origins', () => {
    // RFC 2606: nobody's, for examples of what callers send.
    const own = toJson(document).replaceAll('https://example.com/', '')
    expect(own).not.toMatch(/https?:\/\//)
    // Swagger UI links an identifier to spdx.org.
    expect(document.info.license).toEqual({ name: 'Apache-2.0' })
  })
})

describe('GET /llms.txt', () => {
  test('lists every endpoint as plain text', async () => {
    const response = await get('/llms.txt')
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
    const text = await response.text()
    for (const { route, path } of routes) {
      expect(text).toContain(`- ${route.method.toUpperCase()} ${toTemplate(path)}: `)
    }
  })
})
