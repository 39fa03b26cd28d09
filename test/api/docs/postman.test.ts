import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readContents } from '../../../api/docs/pages/contents.js'
import { createLlmsText } from '../../../api/docs/llms.js'
import { toJson } from '../../../api/docs/openapi.js'
import { createPostmanCollection } from '../../../api/docs/postman.js'
import { readPlaces, readPortChoices } from '../../../dev/settings.js'
import { endpoints } from '../../../api/routes.js'
import { document, documented } from '../../support/openapi.js'
import { startWorld, type ApiWorld } from '../api.js'
import { createPostmanRunner } from './postmanRunner.js'

const collection = createPostmanCollection(document)
const items = collection.item.flatMap(({ item }) => item)
type IssuePath = { path: string }

let world: ApiWorld
let runner: ReturnType<typeof createPostmanRunner>

beforeAll(async () => {
  world = await startWorld()
  runner = createPostmanRunner(collection, {
    hostUrl: world.api.url,
    apiKey: await world.newKey(),
    // No worker runs that could complete what is waited for.
    waitSeconds: '0',
  })
})
afterAll(() => world.stop())

/** The API accepted the request, and responds that no chain is available. */
const judged = /^(INSUFFICIENT_FUNDS|INVALID_REQUEST|UNAVAILABLE|\w+_NOT_FOUND)$/

describe('the Postman collection', () => {
  test('has every operation once', () => {
    const known = documented.map(({ route, path }) => `${route.method.toUpperCase()} ${path}`)
    const bases: Record<string, string> = { '{{baseUrl}}': '/v1', '{{hostUrl}}': '' }
    const sent = items.map(
      ({ request: { method, url } }) =>
        `${method} ${bases[url.host[0] ?? '']}/${url.path.join('/')}`,
    )
    expect(sent.sort()).toEqual(known.sort())
  })

  test('begins with what a newcomer sends first, in the order of its use', () => {
    const first = items.map(({ request: { method, url } }) => `${method} ${url.path.join('/')}`)
    const sent = [
      ...['POST wallets', 'POST demo/fund', 'GET demo/fund/:fundingId', 'GET balances/:walletId'],
      ...['GET yields', 'POST intents', 'GET intents/:intentId', 'GET positions/:walletId'],
    ]
    expect(first.filter((name) => sent.includes(name))).toEqual(sent)
    expect(first[0]).toBe(sent[0])
  })

  test('as delivered, it addresses the port of `npm start`', () => {
    const { value } = collection.variable.find(({ key }) => key === 'hostUrl') ?? {}
    const port = Number(new URL(value ?? '').port)
    expect(readPortChoices({}, readPlaces({})).api.port).toBe(port)
  })

  test('names its schema, and defines the key once', () => {
    expect(collection.info.schema).toContain('v2.1.0')
    expect(collection.auth.bearer).toEqual([expect.objectContaining({ value: '{{apiKey}}' })])
    expect(JSON.stringify(collection.item)).not.toMatch(/svc_sk_[0-9a-f]|"auth"/)
  })

  test('the API accepts each request and example', async () => {
    for (const { name, request, response } of items) {
      for (const sent of [request, ...response.map(({ originalRequest }) => originalRequest)]) {
        const { status, body } = await runner.send(sent)
        if (status < 400) continue
        const { error, details } = body as { error: string; details: { issues?: IssuePath[] } }
        // Whether a webhook's name is found depends on where the test runs.
        const issues = details.issues?.filter(({ path }) => path !== 'url') ?? []
        expect({ name, error, issues }).toEqual({
          ...{ name, issues: [] },
          error: expect.stringMatching(judged),
        })
      }
    }
    expect(runner.variables.get('walletId')).toMatch(/^svc_wallet_/)
  })

  test('docs/reference/steward.postman_collection.json and docs/llms.txt match the code: otherwise run `npm run openapi`', async () => {
    const stored = (name: string) =>
      readFile(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
    expect(await stored('reference/steward.postman_collection.json')).toBe(toJson(collection))
    expect(await stored('llms.txt')).toBe(createLlmsText(endpoints, readContents('docs')))
  })

  test('is served without a key', async () => {
    const response = await fetch(`${world.api.url}/postman.json`)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await response.text()).toBe(toJson(collection))
  })
})
