import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { inTools } from '../../../api/mcp/texts.js'
import { createTools, type Tool } from '../../../api/mcp/tools.js'
import { endpoints } from '../../../api/routes.js'
import { errorCatalog } from '../../../domain/errors.js'
import { explainFailure, intentFailureCodes } from '../../../domain/intent/failures.js'
import { startWorld, type ApiWorld } from '../api.js'
import { connectClient, type McpClient } from './client.js'

const tools = createTools(endpoints)
const toolNames = tools.map(({ name }) => name)

/** Everything that only a client of the API can follow. */
const foreign = /\b(GET|POST|PUT|DELETE)\b|Idempotency-Key|[Hh]eader|\/v1|\/intents|[?&]\w+=/

/** All objects in a schema, at any depth. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) ? below : [value as Record<string, unknown>, ...below]
}

/** Names of the fields of a schema, and its listed values. */
function wordsIn(schema: unknown): string[] {
  return objectsIn(schema).flatMap((one) => [
    ...Object.keys(one.properties ?? {}),
    ...[one.enum, one.examples, one.const].flat().filter((value) => typeof value === 'string'),
  ])
}

function answerOf({ route }: Tool): unknown {
  const { schema } = route.spec.docs.responses[200] ?? {}
  // A preview has an id, and no published response.
  if (!schema) return { properties: { previewId: {} } }
  return z.toJSONSchema(schema, { unrepresentable: 'any' })
}

const textsOf = ({ description, inputSchema }: Tool) => [
  description,
  ...objectsIn(inputSchema).flatMap(({ description: text }) =>
    typeof text === 'string' ? [text] : [],
  ),
]
const namesIn = (text: string) =>
  [...text.matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) => name.split('.'))

describe('the texts of a tool', () => {
  test.each(tools.map((tool) => [tool.name, tool] as const))(
    '%s: name its own parameters, its answer, and other tools',
    (_name, tool) => {
      const known = [...wordsIn(tool.inputSchema), ...wordsIn(answerOf(tool)), ...toolNames]
      for (const text of textsOf(tool)) {
        expect(text).not.toMatch(foreign)
        for (const name of namesIn(text))
          expect([text, known]).toEqual([text, expect.arrayContaining([name])])
      }
    },
  )
})

describe('inTools', () => {
  test.each([
    ['See `GET /v1/yields`.', [], 'See `get_yields`.'],
    ['Read GET /v1/intents/:intentId.', [], 'Read `get_intent`.'],
    ['There is none. Create one with POST /v1/wallets.', [], 'There is none.'],
    ['It may be done. Repeat it with the same Idempotency-Key.', [], 'It may be done.'],
    [
      'Repeat it with the same Idempotency-Key.',
      ['previewId'],
      'Repeat it with the same `previewId`.',
    ],
  ])('%s', (text, takes, shown) => {
    expect(inTools(text, takes)).toBe(shown)
  })

  test.each(intentFailureCodes)('the hint of %s names tools only', (code) => {
    const hint = inTools(explainFailure(code).hint, [])
    expect(hint).not.toBe('')
    expect(hint).not.toMatch(foreign)
    if (errorCatalog[code].hint.includes('/retry')) expect(hint).toContain('`preview_intent`')
  })
})

describe('what a client reads', () => {
  let world: ApiWorld
  let mcp: McpClient

  beforeAll(async () => {
    world = await startWorld()
    mcp = await connectClient(world.api.url, await world.newKey())
  })
  afterAll(async () => {
    await mcp?.client.close()
    await world?.stop()
  })

  test('the instructions name tools that exist', () => {
    const named = mcp.client.getInstructions()?.match(/\b[a-z]+_[a-z_]+\b/g) ?? []
    expect(named.length).toBeGreaterThan(0)
    expect(toolNames).toEqual(expect.arrayContaining(named))
  })

  const zeros = '0'.repeat(26)
  const lend = { action: 'lend', amount: 1 }
  test.each<[name: string, args: object, message: string]>([
    ['get_balances', { walletId: `svc_wallet_${zeros}` }, 'There is no wallet with this id.'],
    [
      'preview_intent',
      { ...lend, walletId: `svc_wallet_${zeros}` },
      'There is no wallet with this id.',
    ],
    ['get_intent', { intentId: `intent_${zeros}` }, 'There is no intent with this id.'],
    [
      'get_intent',
      { intentId: 'x', wait: 1_000 },
      'wait must be a whole number of seconds from 0 to 60.',
    ],
    [
      'create_intent',
      { ...lend, walletId: 'w', previewId: `preview_${zeros}` },
      'There is no preview with this id in the last five minutes. Preview again.',
    ],
  ])('%s %j: the error names no endpoint', async (name, args, message) => {
    const { isError, body } = await mcp.call(name, { ...args })
    expect([isError, body.message]).toEqual([true, message])
    expect(JSON.stringify(body)).not.toMatch(/\b(GET|POST) \//)
  })
})
