import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { getInvitation } from '../../db/accounts/invitations.js'
import { readCommand } from '../../admin/account/accountCommand.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { createTestAccount } from './accounts.js'

let database: TestDatabase
let printed = ''

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database?.drop())
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation((text) => {
    printed += `${text}\n`
  })
})

async function invite(...argv: string[]): Promise<string> {
  printed = ''
  const base = ['--base-url', 'https://steward.example.com/']
  await readCommand(['invite', ...base, ...argv])?.(database.db)
  return printed
}

const tokenIn = (text: string) =>
  /https:\/\/steward\.example\.com\/dashboard\/invitations\/([\w-]{43})\s/.exec(text)?.[1] ?? ''

describe('invite', () => {
  test('prints a link to the account that is valid for a day, and stores only its hash', async () => {
    const { id } = await createTestAccount(database.db)
    const text = await invite(
      ...['--account', id, '--role', 'owner', '--email', 'Ann@Example.com', '--operator'],
    )
    const invitation = await getInvitation(database.db, tokenIn(text))
    expect(invitation).toMatchObject({ accountId: id, email: 'ann@example.com', role: 'owner' })
    const hours = (invitation.expiresAt.getTime() - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23)
    expect(hours).toBeLessThanOrEqual(24)
    const [row] = await database.db('invitation').select<object[]>()
    expect(row).toMatchObject({ is_operator: true, invited_by: null })
    expect(JSON.stringify(row)).not.toContain(tokenIn(text))
  })

  test('a new link replaces the earlier one', async () => {
    const { id } = await createTestAccount(database.db)
    const first = tokenIn(await invite('--account', id, '--role', 'owner'))
    const second = tokenIn(await invite('--account', id, '--role', 'viewer'))
    await expect(getInvitation(database.db, first)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await getInvitation(database.db, second)).toMatchObject({ email: null, role: 'viewer' })
  })

  test('prints the same as JSON', async () => {
    const { id } = await createTestAccount(database.db)
    const { url, role } = JSON.parse(await invite('--account', id, '--role', 'owner', '--json'))
    expect([tokenIn(`${url} `).length, role]).toEqual([43, 'owner'])
  })

  test('is listed until it is withdrawn, which the audit log records', async () => {
    const { id } = await createTestAccount(database.db)
    const token = tokenIn(
      await invite('--account', id, '--role', 'viewer', '--email', 'bob@example.com'),
    )
    const { db } = database
    const [made] = await db('invitation').where({ account_id: id }).pluck<string[]>('id')
    const run = async (...argv: string[]) => {
      printed = ''
      await readCommand(argv)?.(db)
      return printed
    }
    const shown = await run('invitation', 'list', id)
    expect(shown).toMatch(new RegExp(`${made}  bob@example.com  viewer  operator `))
    expect(shown).not.toContain(token)
    await run('invitation', 'withdraw', id, made ?? '', '--by', 'alice', '--why', 'a wrong address')
    expect(await run('invitation', 'list', id)).toMatch(/^No open invitations/)
    await expect(getInvitation(db, token)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const event = { subject: made, action: 'member uninvite', actor: 'alice' }
    expect(await db('audit_event').where(event).pluck('why')).toEqual(['a wrong address'])
    await expect(run('invitation', 'withdraw', id, made ?? '')).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  test.each([
    ['--account is missing.', []],
    ['--role must be one of owner, developer, viewer.', ['--account', 'x', '--role', 'king']],
    ['--email must be an e-mail address.', ['--account', 'x', '--role', 'owner', '--email', 'x']],
    ['There is no account x.', ['--account', 'x', '--role', 'owner']],
  ])('error: %s', async (message, argv) => {
    await expect(invite(...argv)).rejects.toMatchObject({ message })
  })

  test('error: --base-url is missing without another source', () => {
    const { DATABASE_URL } = process.env
    process.env.DATABASE_URL = database.url
    try {
      const argv = ['invite', '--account', 'x', '--role', 'owner']
      expect(() => readCommand(argv)).toThrow('--base-url is missing')
    } finally {
      if (DATABASE_URL === undefined) delete process.env.DATABASE_URL
      else process.env.DATABASE_URL = DATABASE_URL
    }
  })
})
