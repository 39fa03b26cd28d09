import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownAccountEntry } from '../../../api/schemas/dashboard.js'
import { createAccount } from '../../../db/accounts/accounts.js'
import { inviteMember } from '../../../db/accounts/invitations.js'
import { startWorld, type ApiWorld } from '../api.js'
import { PASSWORD, cookieOf, newPerson, pagesOf, tokenIn, type Person } from './people.js'
import type { Role } from '../../../domain/roles.js'

let world: ApiWorld
let pages: ReturnType<typeof pagesOf>

beforeAll(async () => {
  world = await startWorld()
  pages = pagesOf(world)
})
afterAll(() => world.stop())

/** Makes a user a member of another account: they follow an invitation link and enter their password. */
async function joinAnother({ email }: Person, role: Role): Promise<string> {
  const { db } = world.database
  const { id } = await createAccount(db, { name: 'Another', plan: 'pro' })
  const { token } = await inviteMember(db, { accountId: id, email, role })
  const body = { password: PASSWORD }
  expect((await pages('POST', `/invitations/${token}/accept`, { body })).status).toBe(201)
  return id
}

const accountsOf = async (cookie: string) =>
  (await pages('GET', '/session/accounts', { cookie })).body.data as Record<string, unknown>[]
const switchTo = (cookie: string, accountId: string) =>
  pages('POST', '/session/switch', { cookie, body: { accountId } })
const statusOf = async (cookie: string) => (await pages('GET', '/session', { cookie })).status

describe('GET /session/accounts', () => {
  test('lists the accounts of the signed-in user by name, and marks the current one', async () => {
    const person = await newPerson(world)
    const other = await joinAnother(person, 'viewer')
    const accounts = await accountsOf(person.cookie)
    for (const one of accounts) expect(ownAccountEntry.parse(one)).toEqual(one)
    expect(accounts).toEqual([
      { id: other, name: 'Another', role: 'viewer', isCurrent: false },
      { id: person.accountId, name: 'test', role: 'owner', isCurrent: true },
    ])
    const stranger = await newPerson(world)
    expect(await accountsOf(stranger.cookie)).toHaveLength(1)
  })
})

describe('POST /session/switch', () => {
  test('switches to the other account, with the role there and a new cookie', async () => {
    const person = await newPerson(world)
    const other = await joinAnother(person, 'viewer')
    const answer = await switchTo(person.cookie, other)
    expect(answer.body).toMatchObject({ account: { id: other }, role: 'viewer' })
    const cookie = cookieOf(answer)
    expect(tokenIn(cookie)).not.toBe(tokenIn(person.cookie))
    expect(await statusOf(cookie)).toBe(200)
    expect(await statusOf(person.cookie)).toBe(401)
    // What is read and written from now on is read and written there.
    const body = { userId: 'alice' }
    expect((await pages('POST', '/wallets', { cookie, body })).status).toBe(403)
    const back = cookieOf(await switchTo(cookie, person.accountId))
    expect((await pages('POST', '/wallets', { cookie: back, body })).status).toBe(201)
    const wallets = await world.database
      .db('wallet')
      .where({ user_id: 'alice' })
      .pluck('account_id')
    expect(wallets).toEqual([person.accountId])
  })

  test('does not extend the session', async () => {
    const person = await newPerson(world)
    const other = await joinAnother(person, 'viewer')
    const { db } = world.database
    const sessions = () => db('user_session').where({ user_id: person.userId })
    const soon = new Date(Date.now() + 60_000)
    await sessions().update({ expires_at: soon })
    expect((await switchTo(person.cookie, other)).status).toBe(200)
    const [open] = (await sessions()
      .whereNull('ended_at')
      .where({ account_id: other })
      .orderBy('id', 'desc')
      .pluck('expires_at')) as Date[]
    expect(open?.getTime()).toBe(soon.getTime())
  })

  test('error: FORBIDDEN for a foreign, former or unknown account: the session stays', async () => {
    const person = await newPerson(world)
    const stranger = await newPerson(world)
    const left = await joinAnother(person, 'developer')
    await world.database
      .db('membership')
      .where({ account_id: left, user_id: person.userId })
      .delete()
    for (const accountId of [stranger.accountId, left, 'acct_none']) {
      const answer = await switchTo(person.cookie, accountId)
      expect([answer.status, answer.body.error]).toEqual([403, 'FORBIDDEN'])
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    expect(await statusOf(person.cookie)).toBe(200)
  })

  test('of two concurrent switches one counts', async () => {
    const person = await newPerson(world)
    const other = await joinAnother(person, 'viewer')
    const answers = await Promise.all([1, 2, 3].map(() => switchTo(person.cookie, other)))
    const cookies = answers.filter(({ status }) => status === 200).map(cookieOf)
    expect(cookies).toHaveLength(1)
    const open = await world.database
      .db('user_session')
      .where({ user_id: person.userId, account_id: other })
      .whereNull('ended_at')
    // The one that joining has opened, and the one that counts.
    expect(open).toHaveLength(2)
  })

  test('error: FORBIDDEN from the page of another site', async () => {
    const person = await newPerson(world)
    const headers = { origin: 'http://evil.example' }
    const body = { accountId: person.accountId }
    const { cookie } = person
    const answer = await pages('POST', '/session/switch', { cookie, body, headers })
    expect(answer.status).toBe(403)
  })
})
