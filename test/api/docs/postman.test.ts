import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readContents } from '../../../api/docs/pages/contents.js'
import { createLlmsText } from '../../../api/docs/llms.js'
import { toJson } from '../../../api/docs/openapi.js'
import { createPostmanCollection } from '../../../api/docs/postman.js'
import { endpoints } from '../../../api/routes.js'
import { document, documented } from '../../support/openapi.js'
import { startWorld, type ApiWorld } from '../api.js'

const collection = createPostmanCollection(document)
const items = collection.item.flatMap(({ item }) => item)
type IssuePath = { path: string }
type PostmanRequest = (typeof items)[number]['request']

let world: ApiWorld
const variables = new Map<string, string>()

beforeAll(async () => {
  world = await startWorld()
  for (const { key, value } of collection.variable) variables.set(key, value || `${key}_0`)
  variables.set('hostUrl', world.api.url)
  variables.set('apiKey', await world.newKey())
})
afterAll(() => world.stop())

/** As Postman does: variables may stand in variables. */
function fill(text: string): string {
  const filled = text.replace(/\{\{([$\w]+)\}\}/g, (_all, name: string) => {
    const value = name === '$guid' ? crypto.randomUUID() : variables.get(name)
    if (value === undefined) throw new Error(`The collection has no variable ${name}.`)
    return value
  })
  return filled === text ? text : fill(filled)
}

/** Runs the script of the collection on an answer, as Postman does. */
function keepIds(status: number, body: unknown): void {
  const pm = {
    response: { code: status, json: () => body },
    collectionVariables: { set: (key: string, value: string) => variables.set(key, value) },
  }
  const exec = collection.event.flatMap(({ script }) => script.exec)
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- what is tested
  const script = new Function('pm', exec.join('\n')) as (given: object) => void
  script(pm)
}

async function send({ method, url, header, body }: PostmanRequest & { body?: { raw: string } }) {
  const values = new Map(url.variable.map(({ key, value }) => [`:${key}`, value]))
  const parts = url.path.map((part) => encodeURIComponent(fill(values.get(part) ?? part)))
  const query = url.query.filter(({ disabled }) => !disabled)
  const search = new URLSearchParams()
  for (const { key, value } of query) search.set(key, fill(value))
  const [auth] = collection.auth.bearer
  const response = await fetch(
    `${fill(url.host[0] ?? '')}/${parts.join('/')}?${search.toString()}`,
    {
      method,
      headers: {
        authorization: `Bearer ${fill(auth?.value ?? '')}`,
        ...Object.fromEntries(header.map(({ key, value }) => [key, fill(value)])),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: fill(body.raw) } : {}),
      signal: AbortSignal.timeout(20_000),
    },
  )
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel()
    return { status: response.status, body: {} }
  }
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

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

  test('names its schema, and defines the key once', () => {
    expect(collection.info.schema).toContain('v2.1.0')
    expect(collection.auth.bearer).toEqual([expect.objectContaining({ value: '{{apiKey}}' })])
    expect(JSON.stringify(collection.item)).not.toMatch(/svc_sk_[0-9a-f]|"auth"/)
  })

  test('the API accepts each request and example', async () => {
    for (const { name, request, response } of items) {
      for (const sent of [request, ...response.map(({ originalRequest }) => originalRequest)]) {
        const { status, body } = await send(sent)
        keepIds(status, body)
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
    expect(variables.get('walletId')).toMatch(/^svc_wallet_/)
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
