import { userInfo } from 'node:os'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readCommand } from '../../admin/account/accountCommand.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { createTestAccount } from './accounts.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database?.drop())
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined)
})

const run = async (...argv: string[]) => readCommand(argv)?.(database.db)

describe('commands of operators', () => {
  test('are in the audit log when they change keys, plans, credits or invitations', async () => {
    const { id } = await createTestAccount(database.db)
    const by = ['--by', 'alice', '--why', 'a new contract']
    await run('plan', id, 'enterprise', ...by)
    await run('credits', 'grant', id, '500', ...by)
    await run('key', 'create', id, '--name', 'ci', ...by)
    const { db } = database
    const key = await db('api_key').where({ account_id: id, name: 'ci' }).first<{ id: string }>()
    await run('key', 'roll', key.id, ...by)
    await run('key', 'revoke', key.id)
    const invite = ['invite', '--account', id, '--base-url', 'http://127.0.0.1']
    await run(...invite, '--role', 'viewer', '--email', 'ann@example.com', '--operator', ...by)
    const unsaid = 'No reason was given.'
    const entries = await db('audit_event')
      .whereIn('subject', [
        id,
        ...(await db('api_key').where({ account_id: id }).pluck<string[]>('id')),
        ...(await db('invitation').where({ account_id: id }).pluck<string[]>('id')),
      ])
      .orderBy('id')
      .select<Record<'actor' | 'action' | 'detail' | 'why', string>[]>(
        ...['actor', 'action', 'detail', 'why'],
      )
    expect(entries.map(Object.values)).toEqual([
      [expect.any(String), 'account create', 'pro', unsaid],
      [expect.any(String), 'key create', expect.any(String), unsaid],
      ['alice', 'account plan', 'enterprise', 'a new contract'],
      ['alice', 'credits grant', '500', 'a new contract'],
      ['alice', 'key create', 'ci', 'a new contract'],
      ['alice', 'key shorten', expect.any(String), 'a new contract'],
      ['alice', 'key create', 'ci', 'a new contract'],
      [userInfo().username, 'key revoke', 'ci', unsaid],
      ['alice', 'operator invite', 'ann@example.com', 'a new contract'],
    ])
  })
})
