import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPostmanCollection } from '../../../api/docs/postman.js'
import { document } from '../../support/openapi.js'
import { joinWorld, type E2eWorld } from '../../e2e/world.js'
import { until } from '../../e2e/stack.js'
import { createPostmanRunner } from './postmanRunner.js'

const STACK_MS = 600_000
const collection = createPostmanCollection(document)
const items = collection.item.flatMap(({ item }) => item)
/** A newcomer lends and looks at the result. Requests that end the intent or need a server of their own come later. */
const journey = [
  ...['POST wallets', 'POST demo/fund', 'GET demo/fund/:fundingId', 'GET balances/:walletId'],
  ...['GET yields', 'POST intents', 'GET intents/:intentId'],
]

let world: E2eWorld

beforeAll(async () => {
  world = await joinWorld()
}, STACK_MS)
afterAll(() => world?.stop())

describe('the Postman collection, sent from top to bottom', () => {
  test(
    'funds a wallet and completes an intent, with ids of earlier responses only',
    async () => {
      const { hostUrl, apiKey } = world.stack.facts
      const { send } = createPostmanRunner(collection, { hostUrl, apiKey })
      const answers = new Map<string, Record<string, unknown>>()
      for (const { request } of items) {
        const { method } = request
        const name = `${method} ${request.url.path.join('/')}`
        if (!journey.includes(name)) continue
        const { status, body } = await until(
          () => send(request),
          // A read with `wait` returns at the next change: a user sends it again.
          ({ body: { status: state } }) =>
            method === 'POST' || !/planning|executing/.test(String(state)),
        )
        expect([name, status < 300, body]).toEqual([name, true, expect.anything()])
        answers.set(name, body)
      }
      expect([...answers.keys()]).toEqual(journey)
      expect(answers.get('GET demo/fund/:fundingId')).toMatchObject({ status: 'completed' })
      expect(answers.get('GET balances/:walletId')).toMatchObject({ totalValueUsd: 1 })
      expect(answers.get('GET intents/:intentId')).toMatchObject({ status: 'completed' })
    },
    STACK_MS,
  )
})
