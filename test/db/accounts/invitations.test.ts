import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { createAccount } from '../../../db/accounts/accounts.js'
import {
  acceptInvitation,
  inviteMember,
  newUserId,
  type Acceptance,
} from '../../../db/accounts/invitations.js'
import { tokenDigest } from '../../../db/accounts/sessions.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { waitUntilBlocked } from '../../support/blocked.js'

let database: TestDatabase
/** With the permissions of the API only. */
let api: Db
let accountId: string
let token: string

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 3)
})
beforeEach(async () => {
  accountId = (await createAccount(database.db, { name: 'test', plan: 'pro' })).id
  token = (await inviteMember(database.db, { accountId, role: 'viewer' })).token
})
afterAll(async () => {
  await api?.destroy()
  await database?.drop()
})

let people = 0
const newcomer = (): Acceptance => {
  const email = `newcomer${(people += 1)}@example.com`
  return { userId: newUserId(), email, name: 'New', newPasswordHash: '$argon2id$' }
}
const members = (): Promise<string[]> =>
  database.db('membership').where({ account_id: accountId }).pluck<string[]>('user_id')
const invitation = () => database.db('invitation').where({ token_hash: tokenDigest(token) })
const refused = expect.objectContaining({ code: 'NOT_FOUND' })

describe('acceptInvitation', () => {
  test('two concurrent acceptances: one creates a member, the other leaves no rows', async () => {
    const [first, second] = [newcomer(), newcomer()]
    const trx = await api.transaction()
    expect(await acceptInvitation(trx, token, first)).toBe(accountId)
    const other = acceptInvitation(api, token, second).catch((error: unknown) => error)
    await waitUntilBlocked(database.db)
    await trx.commit()
    expect(await other).toEqual(refused)
    expect(await members()).toEqual([first.userId])
    expect(await database.db('app_user').where({ id: second.userId })).toEqual([])
  })

  test('error: NOT_FOUND for an invitation that was used after it was read', async () => {
    const now = database.db.raw('clock_timestamp()')
    for (const change of [{ expires_at: now }, { ended_at: now }]) {
      token = (await inviteMember(database.db, { accountId, role: 'viewer' })).token
      await invitation().update(change)
      await expect(acceptInvitation(api, token, newcomer())).rejects.toEqual(refused)
    }
    expect(await members()).toEqual([])
  })

  test('error: NOT_FOUND for a second use, and for another e-mail address', async () => {
    await acceptInvitation(api, token, newcomer())
    await expect(acceptInvitation(api, token, newcomer())).rejects.toEqual(refused)
    const email = 'dave@example.com'
    token = (await inviteMember(database.db, { accountId, role: 'viewer', email })).token
    await expect(acceptInvitation(api, token, newcomer())).rejects.toEqual(refused)
    expect(await members()).toHaveLength(1)
  })
})
