import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inviteEntry, invitationAnswer, memberEntry } from '../../../api/schemas/dashboard.js'
import { createAccount } from '../../../db/accounts/accounts.js'
import { inviteMember } from '../../../db/accounts/invitations.js'
import { startWorld, type ApiWorld } from '../api.js'
import { PASSWORD, cookieOf, newPerson, pagesOf, type Person } from './people.js'

let world: ApiWorld
let pages: ReturnType<typeof pagesOf>

beforeAll(async () => {
  world = await startWorld()
  pages = pagesOf(world)
})
afterAll(() => world.stop())

async function invite({ cookie }: Person, email: string, role = 'viewer'): Promise<string> {
  const answer = await pages('POST', '/members/invite', { cookie, body: { email, role } })
  expect(answer.status).toBe(201)
  const { url } = answer.body as unknown as { url: string }
  expect(url.startsWith(`${world.api.url}/dashboard/invitations/`)).toBe(true)
  return url.split('/').at(-1) ?? ''
}

const accept = (token: string, body: object) =>
  pages('POST', `/invitations/${token}/accept`, {
    body: { name: 'New', password: PASSWORD, ...body },
  })

const list = async ({ cookie }: Person, path = '/members') =>
  (await pages('GET', path, { cookie })).body.data as { id: string; role: string; email: string }[]

describe('an invitation', () => {
  test('describes the invitation, and makes a signed-in member', async () => {
    const owner = await newPerson(world)
    const token = await invite(owner, 'Carol@Example.com', 'developer')
    const invitation = await pages('GET', `/invitations/${token}`)
    expect(invitationAnswer.parse(invitation.body)).toMatchObject({
      ...{ account: { name: 'test' }, role: 'developer', email: 'carol@example.com' },
    })
    expect(inviteEntry.array().parse(await list(owner, '/members/invitations'))).toHaveLength(1)
    const joined = await accept(token, {})
    expect(joined.status).toBe(201)
    const session = await pages('GET', '/session', { cookie: cookieOf(joined) })
    expect(session.body).toMatchObject({ account: { id: owner.accountId }, role: 'developer' })
    const members = memberEntry.array().parse(await list(owner))
    expect(members.map(({ role }) => role)).toEqual(['owner', 'developer'])
    expect(await list(owner, '/members/invitations')).toEqual([])
  })

  test('is pending with its inviter until it is withdrawn, and both acts are in the audit log', async () => {
    const owner = await newPerson(world)
    const { cookie, accountId, userId, email } = owner
    const { db } = world.database
    await inviteMember(db, { accountId, role: 'owner', email: 'ops@example.com' })
    const token = await invite(owner, 'frank@example.com', 'developer')
    const pending = inviteEntry.array().parse(await list(owner, '/members/invitations'))
    expect(pending).toMatchObject([
      { email: 'ops@example.com', role: 'owner', by: null },
      { email: 'frank@example.com', role: 'developer', by: { id: userId, email } },
    ])
    const id = pending[1]?.id ?? ''
    const end = (by: Person) =>
      pages('POST', `/members/invitations/${id}/end`, { cookie: by.cookie })
    expect((await end(await newPerson(world))).status).toBe(404)
    expect((await end(owner)).status).toBe(200)
    expect((await end(owner)).status).toBe(404)
    expect((await pages('GET', `/invitations/${token}`)).status).toBe(404)
    expect(await list(owner, '/members/invitations')).toHaveLength(1)
    const auditLog = await pages('GET', '/members/audit-log?limit=2', { cookie })
    expect(auditLog.body.data).toMatchObject([
      { action: 'member uninvite', subject: id, detail: 'frank@example.com', by: { id: userId } },
      { action: 'member invite', subject: id, detail: 'frank@example.com', by: { id: userId } },
    ])
  })

  test('is used once, also by concurrent users', async () => {
    const owner = await newPerson(world)
    const { db } = world.database
    const { token } = await inviteMember(db, { accountId: owner.accountId, role: 'viewer' })
    const emails = ['a', 'b', 'c', 'd'].map((name) => `${name}-racer@example.com`)
    const answers = await Promise.all(emails.map((email) => accept(token, { email })))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, 404, 404, 404])
    expect(await list(owner)).toHaveLength(2)
    const users = await db('app_user').whereIn('email', emails).pluck<string[]>('email')
    expect(users).toHaveLength(1)
    expect((await pages('GET', `/invitations/${token}`)).status).toBe(404)
  })

  test('error: NOT_FOUND when it has expired, was replaced or withdrawn, or never was', async () => {
    const owner = await newPerson(world)
    const email = 'late@example.com'
    const replaced = await invite(owner, email)
    const open = await invite(owner, email)
    expect((await accept(replaced, {})).status).toBe(404)
    const { db } = world.database
    const past = { expires_at: db.raw('clock_timestamp()') }
    await db('invitation').where({ email }).update(past)
    expect((await accept(open, {})).status).toBe(404)
    const withdrawn = await invite(owner, email)
    const [entry] = await list(owner, '/members/invitations')
    const { cookie } = owner
    const path = `/members/invitations/${entry?.id ?? ''}/end`
    expect((await pages('POST', path, { cookie })).status).toBe(200)
    for (const token of [withdrawn, 'x'.repeat(43), 'x']) {
      expect((await accept(token, {})).status).toBe(404)
    }
    expect(await db('app_user').where({ email })).toEqual([])
  })

  test('error: INVALID_REQUEST for another e-mail, a short password, and without either', async () => {
    const owner = await newPerson(world)
    const token = await invite(owner, 'dave@example.com')
    expect((await accept(token, { email: 'eve@example.com' })).status).toBe(400)
    expect((await accept(token, { password: 'short' })).status).toBe(400)
    expect((await accept(token, { name: undefined })).status).toBe(401)
    expect((await accept(token, {})).status).toBe(201)
  })

  test('an existing user joins with their password', async () => {
    const owner = await newPerson(world)
    const known = await newPerson(world)
    const token = await invite(owner, known.email)
    const wrong = { name: undefined, password: 'another long password' }
    expect((await accept(token, wrong)).status).toBe(401)
    const joined = await accept(token, { name: undefined })
    expect(joined.body).toMatchObject({ user: { id: known.userId, name: expect.any(String) } })
    expect(joined.body).toMatchObject({ account: { id: owner.accountId } })
    const { db } = world.database
    const { accountId } = owner
    const unnamed = await inviteMember(db, { accountId, role: 'viewer' })
    const second = { email: known.email, password: 'another long password' }
    expect((await accept(unnamed.token, second)).status).toBe(400)
  })

  test('an e-mail that another person has taken neither blocks its owner nor gives them access', async () => {
    const email = 'victim@example.com'
    const [taken, own] = ['the password of a squatter', 'the password of the owner']
    const squatter = await newPerson(world)
    const squatted = await accept(await invite(squatter, email), { password: taken })
    const owner = await newPerson(world)
    const joined = await accept(await invite(owner, email), { password: own })
    expect([squatted.status, joined.status]).toEqual([201, 201])
    const signIn = async (password: string) =>
      (await pages('POST', '/session', { body: { email, password } })).body
    expect(await signIn(own)).toMatchObject({ account: { id: owner.accountId } })
    expect(await signIn(taken)).toMatchObject({ account: { id: squatter.accountId } })
  })

  test('does not show whether an e-mail has a user', async () => {
    const owner = await newPerson(world)
    const known = await newPerson(world)
    const answers = []
    for (const email of [known.email, 'unknown@example.com']) {
      const token = await invite(owner, email)
      const read = await pages('GET', `/invitations/${token}`)
      const wrong = await accept(token, { name: undefined, password: 'another long password' })
      const joined = await accept(token, { password: 'another long password' })
      const shown = { ...read.body, email: '', expiresAt: '' }
      answers.push([
        shown,
        wrong.status,
        String(wrong.body.message).replace(email, ''),
        joined.status,
      ])
    }
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]?.slice(1)).toEqual([401, expect.any(String), 201])
  })

  test('only one by the owner of the database creates an operator', async () => {
    const { cookie } = await newPerson(world, { isOperator: true })
    const { body } = await pages('GET', '/session', { cookie })
    expect(body).toMatchObject({ user: { isOperator: true } })
    const account = await createAccount(world.database.db, { name: 'test', plan: 'free' })
    const token = Buffer.alloc(32)
    const row = { id: 'x', token_hash: token, account_id: account.id, role: 'owner' }
    const expires_at = world.db.raw('clock_timestamp()')
    const made = world.db('invitation').insert({ ...row, expires_at, is_operator: true })
    await expect(made).rejects.toMatchObject({ code: '42501' })
  })
})

describe('roles', () => {
  const ownersOnly: [string, object | undefined][] = [
    ['/members/invite', { email: 'x@example.com', role: 'owner' }],
    ['/members/user_x/role', { role: 'owner' }],
    ['/members/user_x/remove', undefined],
    ['/members/invitations/invite_x/end', undefined],
  ]
  test.each(ownersOnly)(
    'error: FORBIDDEN for members who are not owners: %s',
    async (path, body) => {
      const { accountId } = await newPerson(world)
      for (const role of ['developer', 'viewer'] as const) {
        const { cookie } = await newPerson(world, { accountId, role })
        expect((await pages('POST', path, { cookie, body })).status).toBe(403)
      }
    },
  )

  test('a viewer reads everything and writes nothing', async () => {
    const { accountId } = await newPerson(world)
    const { cookie } = await newPerson(world, { accountId, role: 'viewer' })
    for (const path of ['/wallets', '/intents', '/credits', '/keys', '/members', '/sessions']) {
      expect((await pages('GET', path, { cookie })).status).toBe(200)
    }
    const body = { userId: 'alice' }
    expect((await pages('POST', '/wallets', { cookie, body })).status).toBe(403)
    const key = { name: 'mine', scopes: ['read'] }
    expect((await pages('POST', '/keys', { cookie, body: key })).status).toBe(403)
    const { db } = world.database
    expect(await db('api_key').where({ account_id: accountId })).toEqual([])
    expect(await db('wallet').where({ account_id: accountId })).toEqual([])
  })

  test('a new role and a removal take effect at the next request', async () => {
    const owner = await newPerson(world)
    const { accountId } = owner
    const member = await newPerson(world, { accountId, role: 'viewer' })
    const write = (userId: string) =>
      pages('POST', '/wallets', { cookie: member.cookie, body: { userId } })
    const change = (path: string, body?: object) =>
      pages('POST', `/members/${member.userId}${path}`, { cookie: owner.cookie, body })
    expect((await write('one')).status).toBe(403)
    expect((await change('/role', { role: 'developer' })).status).toBe(200)
    expect((await write('one')).status).toBe(201)
    expect((await change('/role', { role: 'viewer' })).status).toBe(200)
    expect((await write('two')).status).toBe(403)
    expect((await change('/remove')).status).toBe(200)
    expect((await write('three')).status).toBe(401)
    expect((await change('/remove')).status).toBe(404)
    const body = { email: member.email, password: PASSWORD }
    expect((await pages('POST', '/session', { body })).status).toBe(403)
    const auditLog = await world.database
      .db('member_action')
      .where({ account_id: accountId, user_id: owner.userId })
      .orderBy('id')
      .pluck<string[]>('action')
    expect(auditLog).toEqual(['member join', 'member role', 'member role', 'member remove'])
  })

  test('a member of another account is not found', async () => {
    const owner = await newPerson(world)
    const other = await newPerson(world)
    const { cookie } = owner
    const body = { role: 'viewer' }
    const path = `/members/${other.userId}`
    expect((await pages('POST', `${path}/role`, { cookie, body })).status).toBe(404)
    expect((await pages('POST', `${path}/remove`, { cookie })).status).toBe(404)
    expect((await pages('GET', '/session', { cookie: other.cookie })).body.role).toBe('owner')
  })

  test('the last owner stays, also when two demote or remove each other at once', async () => {
    const owner = await newPerson(world)
    const alone = `/members/${owner.userId}`
    const { cookie, accountId } = owner
    const viewer = { role: 'viewer' }
    expect((await pages('POST', `${alone}/role`, { cookie, body: viewer })).status).toBe(400)
    expect((await pages('POST', `${alone}/remove`, { cookie })).status).toBe(400)
    const second = await newPerson(world, { accountId })
    await Promise.all([
      pages('POST', `/members/${second.userId}/role`, { cookie, body: viewer }),
      pages('POST', `${alone}/remove`, { cookie: second.cookie }),
    ])
    const owners = await world.database
      .db('membership')
      .where({ account_id: accountId, role: 'owner' })
    expect(owners).toHaveLength(1)
  })
})
