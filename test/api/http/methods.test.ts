import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type ApiWorld } from '../api.js'

let world: ApiWorld
let key: string

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
})
afterAll(() => world?.stop())

describe('error: METHOD_NOT_ALLOWED', () => {
  test.each([
    ['PUT', '/v1/wallets', 'GET, POST'],
    ['DELETE', '/v1/wallets/a', 'GET'],
    ['POST', '/v1/wallets/a', 'GET'],
    ['GET', '/v1/intents/a/cancel', 'POST'],
    ['GET', '/v1/demo/fund', 'POST'],
    ['OPTIONS', '/v1/wallets', 'GET, POST'],
    ['POST', '/dashboard/credits', 'GET'],
  ])('%s %s: 405, and the header Allow is %s', async (method, path, allow) => {
    const answer = await world.api.call(method, path, { key })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
    expect(answer.body).toMatchObject({
      error: 'METHOD_NOT_ALLOWED',
      message: `This path does not support ${method}. Use ${allow.replace(', ', ' or ')}.`,
      details: { allow: allow.split(', '), docs: '/docs/errors#METHOD_NOT_ALLOWED' },
    })
  })

  test.each([
    ['DELETE', '/v1/intents/a', 'Use GET.', '/v1/intents/:intentId/', 'cancel retry read-token'],
    ['PATCH', '/v1/intents/a', 'Use GET.', '/v1/intents/:intentId/', 'cancel retry read-token'],
    [
      ...(['DELETE', '/v1/webhooks/a', 'Use GET or POST.', '/v1/webhooks/:webhookId/'] as const),
      'delete rotate-secret test',
    ],
  ])('%s %s: names the actions of the resource', async (method, path, use, below, names) => {
    const { status, body } = await world.api.call(method, path, { key })
    const actions = names.split(' ').map((name) => `\`POST ${below}${name}\``)
    expect([status, body.message]).toEqual([
      405,
      `This path does not support ${method}. ${use} Actions: ${actions.join(', ')}.`,
    ])
  })

  test('is for callers with a key only: it reveals no paths to others', async () => {
    const [known, unknown] = await Promise.all([
      world.api.call('PUT', '/v1/wallets'),
      world.api.call('PUT', '/v1/unknown'),
    ])
    expect([known.status, unknown.status]).toEqual([401, 401])
    expect(known.headers.get('allow')).toBeNull()
  })

  test('costs nothing, and counts as a request', async () => {
    const first = await world.api.call('DELETE', '/v1/wallets', { key })
    const second = await world.api.call('DELETE', '/v1/wallets', { key })
    expect(second.headers.get('x-credits-charged')).toBe('0')
    const left = (headers: Headers) => Number(headers.get('x-ratelimit-remaining'))
    // A new minute may begin between the two.
    const sameWindow =
      first.headers.get('x-ratelimit-reset') === second.headers.get('x-ratelimit-reset')
    if (sameWindow) expect(left(second.headers)).toBe(left(first.headers) - 1)
  })
})
