import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Steward } from '@steward/sdk'
import { describe, expect, test } from 'vitest'
import { readOperations, type DocumentedOperation } from '../../../api/docs/operations.js'
import { findPython } from '../../clients/python/environment.js'
import { document } from '../../support/openapi.js'

/** The first run on a machine fetches packages. */
const python = await findPython()
const testWithPython = python === undefined ? test.skip : test

const operations = readOperations(document).map((operation) => {
  const { described, method, path } = operation
  const sources = (described['x-codeSamples'] ?? []).map(({ label, source }) => [label, source])
  const samples = Object.fromEntries(sources) as Record<string, string>
  return { title: `${method.toUpperCase()} ${path}`, operation, samples }
})
const withSdk = operations.filter(({ samples }) => samples.TypeScript !== undefined)

/** Operations that the SDKs do not have. */
const withoutSdk = ['GET /intents/{intentId}/events', 'GET /readyz']

type SampleRequest = { method: string; path: string; body: unknown }

/** What the operation's own examples ask for. */
function expectedOf({
  method,
  path,
  isVersioned,
  parameters,
  bodies,
}: DocumentedOperation): SampleRequest {
  const valueOf = (name: string) =>
    parameters.find((parameter) => parameter.name === name)?.schema?.examples?.[0] ?? ''
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => valueOf(name))
  const body = bodies[0]?.[1] ?? (method === 'post' ? {} : undefined)
  return { method: method.toUpperCase(), path: (isVersioned ? '/v1' : '') + filled, body }
}

const toSent = (method: string, url: string, body: string | undefined): SampleRequest => ({
  ...{ method, path: new URL(url).pathname },
  body: body === undefined ? undefined : (JSON.parse(body) as unknown),
})

/** Parameters that a client sends by itself and the operation does not take: the API refuses them. */
function unknownIn(url: string, { parameters }: DocumentedOperation): string[] {
  const known = parameters.filter((parameter) => parameter.in === 'query')
  const names = [...new URL(url).searchParams.keys()]
  return names.filter((name) => !known.some((parameter) => parameter.name === name))
}

/** Runs a sample with the SDK, whose requests go nowhere. */
async function runWithSdk(
  source: string,
  operation: DocumentedOperation,
): Promise<SampleRequest[]> {
  const sent: SampleRequest[] = []
  const strange: string[] = []
  const fetch = (url: unknown, init: RequestInit = {}) => {
    strange.push(...unknownIn(url as string, operation))
    sent.push(toSent(init.method ?? 'GET', url as string, init.body as string | undefined))
    return Promise.resolve(Response.json({ data: [], hasMore: false, nextCursor: null }))
  }
  const steward = new Steward({ apiKey: 'svc_sk_0', baseUrl: 'http://127.0.0.1:1', fetch })
  const [, code = ''] = source.split('new Steward()\n')
  const run = `return (async () => {\n${code}\n})()`
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- what is tested
  const sample = new Function('steward', 'console', run) as (...given: object[]) => Promise<void>
  await sample(steward, { log: () => undefined })
  expect(strange).toEqual([])
  return sent
}

/** Runs a sample in a shell where `curl` only prints its arguments. */
function runInShell(source: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }; uuidgen() { echo key; }\n${source}`
  const env = {
    ...{ PATH: process.env.PATH, STEWARD_API_KEY: 'svc_sk_0' },
    STEWARD_BASE_URL: 'http://127.0.0.1:1/v1',
  }
  return execFileSync('bash', ['-ec', script], {
    ...{ env, encoding: 'utf8' as const },
    // Without: a shell whose input is a socket takes itself for a remote one, and reads a user's settings.
    stdio: ['ignore', 'pipe', 'inherit'],
  })
    .split('\0')
    .slice(0, -1)
}

/** What each of the samples sends with the SDK for Python, in their order. */
function runWithPython(sources: string[]): SampleRequest[] {
  const script = fileURLToPath(new URL('runPythonSamples.py', import.meta.url))
  const folder = fileURLToPath(new URL('../../../clients/python/src', import.meta.url))
  const output = execFileSync(python ?? '', [script], {
    input: JSON.stringify(sources),
    env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
    encoding: 'utf8',
  })
  return JSON.parse(output) as SampleRequest[]
}

const after = (words: string[], flag: string) => words[words.indexOf(flag) + 1]

describe('x-codeSamples', () => {
  test('every operation that is called from programs has one in each language', () => {
    const missing = operations.filter(({ samples }) => Object.keys(samples).length < 3)
    expect(missing.map(({ title }) => title).sort()).toEqual(withoutSdk)
  })

  test.each(withSdk)('$title: TypeScript sends the documented request', async (one) => {
    expect(await runWithSdk(one.samples.TypeScript ?? '', one.operation)).toEqual([
      expectedOf(one.operation),
    ])
  })

  testWithPython('Python sends what the examples say', () => {
    const sent = runWithPython(withSdk.map(({ samples }) => samples.Python ?? ''))
    const expected = withSdk.map(({ operation }) => {
      const { body, ...call } = expectedOf(operation)
      const sent: { amount?: number | string } | null = body ?? null
      // Amounts go out as text, digit by digit.
      const exact = sent?.amount === undefined ? {} : { amount: String(sent.amount) }
      return { ...call, body: sent && { ...sent, ...exact } }
    })
    expect(sent).toEqual(expected)
  })

  test.each(operations)('$title: curl sends the documented request', ({ operation, samples }) => {
    const words = runInShell(samples.curl ?? '')
    const data = words.includes('-d') ? after(words, '-d') : undefined
    const posts = words.includes('-d') || after(words, '-X') === 'POST'
    const expected = expectedOf(operation)
    expect(toSent(posts ? 'POST' : 'GET', words[0] ?? '', data)).toEqual({
      ...expected,
      body: operation.bodies.length > 0 ? expected.body : undefined,
    })
    expect(words).toContain('Authorization: Bearer svc_sk_0')
  })
})
