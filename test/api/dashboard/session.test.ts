import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sessionAnswer } from '../../../api/schemas/dashboard.js'
import { STAND_IN_NAMESPACE, startWorld, type ApiWorld } from '../api.js'
import { PASSWORD, cookieOf, newPerson, pagesOf } from './people.js'

const TEMPORAL_UI = 'https://temporal.example'

let world: ApiWorld
let pages: ReturnType<typeof pagesOf>

beforeAll(async () => {
  world = await startWorld(undefined, { dashboard: { temporalUi: TEMPORAL_UI } })
  pages = pagesOf(world)
})
afterAll(() => world.stop())

describe('POST /session', () => {
  test('signs in with e-mail and password', async () => {
    const { email, accountId } = await newPerson(world)
    const body = { email: email.toUpperCase(), password: PASSWORD }
    const answer = await pages('POST', '/session', { body })
    expect(answer.status).toBe(200)
    const cookie = cookieOf(answer)
    const session = await pages('GET', '/session', { cookie })
    expect(session.body).toMatchObject({
      user: { email },
      account: { id: accountId },
      role: 'owner',
    })
    expect(sessionAnswer.parse(session.body)).toEqual(session.body)
  })

  test('error: UNAUTHORIZED, the same for a wrong password and an unknown e-mail', async () => {
    const { email } = await newPerson(world)
    for (const who of [email, 'nobody@example.com']) {
      const body = { email: who, password: 'wrong password!' }
      const answer = await pages('POST', '/session', { body })
      expect(answer.status).toBe(401)
      expect(answer.body).toMatchObject({ message: 'E-mail or password is wrong.' })
      expect(answer.headers.getSetCookie()).toEqual([])
    }
  })
})

describe('GET /session', () => {
  test('has the page of the Temporal namespace, for operators only', async () => {
    const { cookie } = await newPerson(world, { isOperator: true })
    const { body } = await pages('GET', '/session', { cookie })
    expect(body).toMatchObject({ temporalUi: `${TEMPORAL_UI}/namespaces/${STAND_IN_NAMESPACE}` })
    const owner = await newPerson(world)
    const other = await pages('GET', '/session', { cookie: owner.cookie })
    expect(other.body).not.toHaveProperty('temporalUi')
  })

  test('joins a Temporal UI below a path, and an address with a slash at its end', async () => {
    const options = { dashboard: { temporalUi: `${TEMPORAL_UI}/ui/` } }
    const slashed = await startWorld(undefined, options)
    const { cookie } = await newPerson(slashed, { isOperator: true })
    const { body } = await pagesOf(slashed)('GET', '/session', { cookie })
    await slashed.stop()
    expect(body.temporalUi).toBe(`${TEMPORAL_UI}/ui/namespaces/${STAND_IN_NAMESPACE}`)
  })
})

describe('endpoints of v1 below /dashboard/api', () => {
  test('respond as with a key, in the account of the session', async () => {
    const { cookie } = await newPerson(world)
    const made = await pages('POST', '/wallets', { cookie, body: { userId: 'alice' } })
    expect(made.status).toBe(201)
    const read = await pages('GET', '/wallets/alice', { cookie })
    expect(read.body).toEqual(made.body)
    const list = await pages('GET', '/wallets', { cookie })
    expect(list.body).toMatchObject({ data: [made.body] })
  })
})

describe('POST /session/end', () => {
  test('ends the session: its cookie is rejected', async () => {
    const { cookie } = await newPerson(world)
    expect((await pages('POST', '/session/end', { cookie })).status).toBe(200)
    expect((await pages('GET', '/session', { cookie })).status).toBe(401)
  })
})
