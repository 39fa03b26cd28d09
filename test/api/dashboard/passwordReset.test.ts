import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memberEntry, passwordResetAnswer } from '../../../api/schemas/dashboard.js'
import { createAccount } from '../../../db/accounts/accounts.js'
import { inviteMember } from '../../../db/accounts/invitations.js'
import { createOperatorReset } from '../../../db/accounts/passwordResets.js'
import { startWorld, type ApiWorld } from '../api.js'
import { PASSWORD, newPerson, pagesOf, type Person } from './people.js'

const NEXT = 'another long password'
let world: ApiWorld
let pages: ReturnType<typeof pagesOf>
let owner: Person

beforeAll(async () => {
  world = await startWorld()
  pages = pagesOf(world)
})
afterAll(() => world.stop())

const reset = ({ cookie }: Person, { userId }: Person) =>
  pages('POST', `/members/${userId}/password-reset`, { cookie })
const choose = async (token: string, password = NEXT) =>
  (await pages('POST', `/password-resets/${token}`, { body: { password } })).status
const signIn = async ({ email }: Person, password: string) =>
  (await pages('POST', '/session', { body: { email, password } })).status
const isSignedIn = async ({ cookie }: Person) =>
  (await pages('GET', '/session', { cookie })).status === 200

async function linkFor(member: Person): Promise<string> {
  const answer = await reset(owner, member)
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store'])
  return passwordResetAnswer.parse(answer.body).url.split('/').at(-1) ?? ''
}

/** A member of a new account and its owner. */
async function newPair(): Promise<Person> {
  owner = await newPerson(world)
  return newPerson(world, { accountId: owner.accountId, role: 'viewer' })
}

const join = async (person: Person) => {
  const { db } = world.database
  const { id: accountId } = await createAccount(db, { name: 'other', plan: 'pro' })
  const { token } = await inviteMember(db, { accountId, email: person.email, role: 'viewer' })
  const body = { password: PASSWORD }
  expect((await pages('POST', `/invitations/${token}/accept`, { body })).status).toBe(201)
}

describe('POST /members/:id/password-reset', () => {
  test('creates a link that sets a new password once, ends all sessions and is in the audit log', async () => {
    const member = await newPair()
    const token = await linkFor(member)
    expect([await isSignedIn(member), await signIn(member, PASSWORD)]).toEqual([true, 200])
    expect(await choose(token, 'Password1234')).toBe(400)
    expect(await choose(token)).toBe(200)
    expect(await isSignedIn(member)).toBe(false)
    expect([await signIn(member, PASSWORD), await signIn(member, NEXT)]).toEqual([401, 200])
    expect(await choose(token)).toBe(404)
    const { body } = await pages('GET', '/members/audit-log?limit=2', { cookie: owner.cookie })
    expect(body.data).toMatchObject([
      { action: 'password choose', subject: member.userId, by: { id: member.userId } },
      { action: 'password reset', subject: member.userId, by: { id: owner.userId } },
    ])
  })

  test('error: NOT_FOUND for a link that was replaced, has expired, or never was', async () => {
    const member = await newPair()
    const [replaced, open] = [await linkFor(member), await linkFor(member)]
    expect([await choose(replaced), await choose('x'.repeat(43)), await choose('x')]).toEqual([
      ...[404, 404, 404],
    ])
    const { db } = world.database
    const own = db('password_reset').where({ user_id: member.userId })
    await own.update({ expires_at: db.raw('clock_timestamp()') })
    expect(await choose(open)).toBe(404)
    expect(await signIn(member, PASSWORD)).toBe(200)
  })

  test('error: FORBIDDEN for a member of another account too, and for an operator', async () => {
    const member = await newPair()
    const token = await linkFor(member)
    await join(member)
    expect((await reset(owner, member)).status).toBe(403)
    // The link was created before they joined.
    expect([await choose(token), await signIn(member, PASSWORD)]).toEqual([404, 200])
    const { accountId } = owner
    const operator = await newPerson(world, { accountId, role: 'viewer', isOperator: true })
    expect((await reset(owner, operator)).status).toBe(403)
  })

  test('error: for others than owners, for strangers and for oneself', async () => {
    const member = await newPair()
    const stranger = await newPerson(world)
    expect((await reset(member, owner)).status).toBe(403)
    expect((await reset(owner, stranger)).status).toBe(404)
    expect((await reset(owner, owner)).status).toBe(400)
    const before = await world.database
      .db('password_reset')
      .whereIn('user_id', [...[member.userId, owner.userId, stranger.userId]])
    expect(before).toEqual([])
  })

  test('is possible exactly for the members whom the list names', async () => {
    const member = await newPair()
    const { accountId } = owner
    const joined = await newPerson(world, { accountId, role: 'developer' })
    await join(joined)
    const operator = await newPerson(world, { accountId, role: 'viewer', isOperator: true })
    const namedTo = async ({ cookie }: Person) => {
      const { data } = (await pages('GET', '/members', { cookie })).body
      const members = memberEntry.array().parse(data)
      return members.filter((entry) => entry.mayResetPassword).map(({ id }) => id)
    }
    expect(await namedTo(owner)).toEqual([member.userId])
    expect(await namedTo(member)).toEqual([])
    const answers = await Promise.all(
      [owner, member, joined, operator].map((person) => reset(owner, person)),
    )
    expect(answers.map(({ status }) => status)).toEqual([400, 201, 403, 403])
  })

  test('an operator resets the password of any member', async () => {
    const member = await newPair()
    await join(member)
    const { accountId } = owner
    const { email, userId } = member
    const token = await createOperatorReset(world.database.db, { accountId, email })
    expect([await choose(token), await signIn(member, NEXT)]).toEqual([200, 200])
    const entry: unknown = await world.database.db('audit_event').where({ subject: userId }).first()
    expect(entry).toMatchObject({ action: 'password reset', detail: accountId })
    const unknown = { accountId, email: 'nobody@example.com' }
    await expect(createOperatorReset(world.database.db, unknown)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})
