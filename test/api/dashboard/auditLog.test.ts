import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditEntry } from '../../../api/schemas/dashboard.js'
import { wallet as walletSchema } from '../../../api/schemas/resources.js'
import { startWorld, type ApiWorld } from '../api.js'
import { newPerson, pagesOf } from './people.js'

let world: ApiWorld
let pages: ReturnType<typeof pagesOf>

beforeAll(async () => {
  world = await startWorld()
  pages = pagesOf(world)
})
afterAll(() => world.stop())

describe('GET /members/audit-log', () => {
  test('lists the actions of members for owners, newest first, page by page', async () => {
    const owner = await newPerson(world)
    const { cookie, accountId } = owner
    const member = await newPerson(world, { accountId, role: 'developer' })
    const key = { name: 'backend', scopes: ['read'] }
    const made = await pages('POST', '/keys', { cookie: member.cookie, body: key })
    const path = `/members/${member.userId}`
    await pages('POST', `${path}/role`, { cookie, body: { role: 'viewer' } })
    await pages('POST', `${path}/remove`, { cookie })
    const first = await pages('GET', '/members/audit-log?limit=2', { cookie })
    const { data, nextCursor } = first.body as unknown as { data: object[]; nextCursor: string }
    for (const one of data) expect(auditEntry.parse(one)).toEqual(one)
    const byOwner = { id: owner.userId, email: owner.email }
    expect(data).toMatchObject([
      { action: 'member remove', subject: member.userId, by: byOwner },
      { action: 'member role', subject: member.userId, detail: 'viewer', by: byOwner },
    ])
    const second = await pages('GET', `/members/audit-log?cursor=${nextCursor}`, { cookie })
    // The user is no longer a member. The entries keep their name.
    expect(second.body.data).toMatchObject([
      { action: 'key create', subject: made.body.id, detail: 'backend', by: { email: null } },
      { action: 'member join', by: { id: member.userId, email: null } },
      { action: 'member join', by: byOwner },
    ])
  })

  test('error: FORBIDDEN for others, who see nothing of another account either', async () => {
    const owner = await newPerson(world)
    for (const role of ['developer', 'viewer'] as const) {
      const { cookie } = await newPerson(world, { accountId: owner.accountId, role })
      expect((await pages('GET', '/members/audit-log', { cookie })).status).toBe(403)
    }
    const stranger = await newPerson(world)
    const { body } = await pages('GET', '/members/audit-log', { cookie: stranger.cookie })
    expect(body.data).toMatchObject([{ action: 'member join', by: { id: stranger.userId } }])
  })
})

describe('GET /wallets/by-id/:walletId', () => {
  test('returns the wallet as by its userId; a wallet of another account is not found', async () => {
    const { cookie } = await newPerson(world)
    const made = await pages('POST', '/wallets', { cookie, body: { userId: 'alice' } })
    const read = await pages('GET', `/wallets/by-id/${made.body.id}`, { cookie })
    expect(read.body).toEqual(made.body)
    expect(walletSchema.parse(read.body)).toEqual(read.body)
    const stranger = await newPerson(world)
    const path = `/wallets/by-id/${made.body.id}`
    const hidden = await pages('GET', path, { cookie: stranger.cookie })
    expect([hidden.status, hidden.body.error]).toEqual([404, 'WALLET_NOT_FOUND'])
  })
})
