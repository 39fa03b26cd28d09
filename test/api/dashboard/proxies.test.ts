import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type ApiResponse, type ApiWorld } from '../api.js'
import { PASSWORD, cookieOf, newPerson, pagesOf, type Person } from './people.js'

/** As a proxy that ends TLS passes a request on; what stands before its own word a caller has made up. */
const forwarded = (address: string, more: object = {}) => ({
  'x-forwarded-for': `198.51.100.1, ${address}`,
  ...more,
})

let behind: ApiWorld
let bare: ApiWorld
let owner: Person

beforeAll(async () => {
  behind = await startWorld(undefined, { dashboard: { trustedProxies: 1 } })
  bare = await startWorld()
  owner = await newPerson(behind)
})
afterAll(() => Promise.all([behind.stop(), bare.stop()]))

const signIn = (world: ApiWorld, { email }: Person, headers: object) =>
  pagesOf(world)('POST', '/session', { body: { email, password: PASSWORD }, headers })

describe('the cookie behind a proxy that ends TLS', () => {
  test.each([
    ['https', true],
    ['HTTPS', true],
    ['http, https', true],
    ['http', false],
    ['https, http', false],
    [undefined, false],
  ])('X-Forwarded-Proto: %s', async (header, isSecure) => {
    const proto = header === undefined ? {} : { 'x-forwarded-proto': header }
    const answer = await signIn(behind, owner, proto)
    const [set = ''] = answer.headers.getSetCookie()
    expect(/^__Host-.*; Path=\/; Secure;/.test(set)).toBe(isSecure)
    // It opens what it was given for, by the same way.
    const headers = { ...proto, cookie: cookieOf(answer) }
    const session = await pagesOf(behind)('GET', '/session', { headers })
    expect(session.body).toMatchObject({ user: { email: owner.email } })
  })

  test('links of invitations have the URL that browsers use', async () => {
    const headers = { 'x-forwarded-proto': 'https' }
    const cookie = cookieOf(await signIn(behind, owner, headers))
    const body = { email: 'new@example.com', role: 'viewer' }
    const answer = await pagesOf(behind)('POST', '/members/invite', { cookie, body, headers })
    expect(String(answer.body.url)).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/dashboard\/invitations\//)
  })

  test('the header is ignored without trusted proxies', async () => {
    const person = await newPerson(bare)
    const answer = await signIn(bare, person, { 'x-forwarded-proto': 'https' })
    expect(answer.headers.getSetCookie()[0]).toMatch(/^steward_session=.*; Path=\/dashboard;/)
  })
})

describe('requests without a valid key or session', () => {
  type Ask = (world: ApiWorld, headers: object) => Promise<ApiResponse>
  const intentId = `intent_${'0'.repeat(26)}`
  const schemes: [string, Ask][] = [
    ['an API key', ({ api }, headers) => api.call('GET', '/v1/yields', { headers })],
    ['a session', (world, headers) => pagesOf(world)('GET', '/session', { headers })],
    [
      'a read token',
      ({ api }, headers) => api.call('GET', `/v1/intents/${intentId}?token=svc_rt_x`, { headers }),
    ],
    [
      'nothing, as a sign-in',
      (world, headers) => pagesOf(world)('POST', '/session', { body: {}, headers }),
    ],
  ]

  /** Two answers of the same clock minute: what was counted before the turn of it does not count after. */
  async function twice(ask: () => Promise<ApiResponse>, other: () => Promise<ApiResponse>) {
    for (;;) {
      const answers = [await ask(), await other()]
      const [first, second] = answers.map(({ headers }) => ({
        left: Number(headers.get('x-ratelimit-remaining')),
        reset: headers.get('x-ratelimit-reset'),
      }))
      if (first && second && first.reset === second.reset) return [first.left, second.left]
    }
  }

  let addresses = 0
  const newAddress = () => `2001:db8:${(++addresses).toString(16)}:1::1`

  test.each(schemes)('at the scheme of %s: each address has its own count', async (_title, ask) => {
    const mine = forwarded(newAddress())
    const from = (headers: object) => () => ask(behind, headers)
    const [first = 0, second] = await twice(from(mine), from(mine))
    expect(second).toBe(first - 1)
    const fresh = forwarded(newAddress())
    const [, others] = await twice(from(mine), from(fresh))
    expect(others).toBe(599)
  })

  test('a forged address does not reset the count', async () => {
    const address = newAddress()
    const [ask] = [schemes[0]?.[1]]
    if (!ask) throw new Error('There are schemes above.')
    const forged = { 'x-forwarded-for': `${newAddress()}, ${address}` }
    const [first = 0, second] = await twice(
      () => ask(behind, forwarded(address)),
      () => ask(behind, forged),
    )
    expect(second).toBe(first - 1)
    const [one = 0, two] = await twice(
      () => ask(bare, forwarded(newAddress())),
      () => ask(bare, forwarded(newAddress())),
    )
    expect(two).toBe(one - 1)
  })
})
