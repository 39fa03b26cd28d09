import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createApiKey, type Scope } from '../../db/accounts/accounts.js'
import { newId } from '../../db/client/ids.js'
import { runAccount } from '../../admin/account/accountProgram.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { admitCall, createTestAccount, findKeyRow, keyIn } from './accounts.js'
import { hearCommand } from './heard.js'

let database: TestDatabase
let home: string

beforeAll(async () => {
  database = await createDatabase()
  home = await mkdtemp(join(tmpdir(), 'steward account '))
})
afterAll(async () => {
  await rm(home, { recursive: true, force: true })
  await database?.drop()
})

/** Runs the program. Without a URL it uses a running stack of `home`. */
const account = (args: string[], url: string | undefined = database.url) =>
  hearCommand(() => runAccount(args, { STEWARD_HOME: home, DATABASE_URL: url }))
async function output(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await account(args)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}
async function expectRefused(args: string[], message: string | RegExp, url?: string) {
  const { code, stdout, stderr } = await account(args, url)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(message)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
}

const rowOf = (key: string) => findKeyRow(database.db, key)
const call = (key: string, scope: Scope = 'read', cost = 0) =>
  admitCall(database.db, key, { scope, cost })
const newAccount = () => createTestAccount(database.db)

describe('create', () => {
  test('creates an account whose key is shown once, works, and is stored as a hash', async () => {
    const made = await output('create', '--plan', 'pro', '--name', 'Acme Ltd')
    const [id = '', key] = [/acct_\w+/.exec(made)?.[0], keyIn(made)]
    expect(await call(key)).toMatchObject({ accountId: id, tier: 'pro', scopes: ['read', 'write'] })
    const row = await rowOf(key)
    expect(row).toMatchObject({
      ...{ account_id: id, name: 'first', expires_at: null, revoked_at: null },
      ...{ prefix: key.slice(0, 11), last_four: key.slice(-4), scopes: ['read', 'write'] },
      ...{ created_at: expect.any(Date), last_used_at: expect.any(Date) },
    })
    const tables = ['account', 'api_key', 'ledger']
    const rows = await Promise.all(tables.map((table) => database.db(table).select<object[]>()))
    const stored = JSON.stringify(rows, (_name, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
    expect(stored).not.toContain(key.slice(11, -4))
    const shown = [await output('list'), await output('show', id), await output('key', 'list', id)]
    for (const text of shown) expect(text).not.toContain(key.slice(11, -4))
  })
})

describe('list and show', () => {
  test('print plain tables', async () => {
    const { id, key } = await newAccount()
    await call(key, 'read', 3)
    const list = await output('list')
    expect(list).toMatch(/^ACCOUNT +NAME +PLAN +CREATED +SUSPENDED\n/)
    expect(list).toMatch(
      new RegExp(`^${id}  Acme Ltd +pro +\\d{4}-\\d\\d-\\d\\dT[\\d:]+Z  -$`, 'm'),
    )
    const shown = await output('show', id)
    expect(shown).toContain(`Account  ${id}\nName     Acme Ltd\nPlan     pro\nState    active\n`)
    expect(shown).toContain('Limits   1000 requests per minute, 10000 wallets\n')
    expect(shown).toContain('Credits  9997 left, 0 bought, 3 used\nMonthly  10000 credits,')
    expect(shown).toMatch(/^KEY_ID +NAME +KEY +SCOPES +CREATED +LAST USED +EXPIRES +REVOKED$/m)
    expect(shown).toMatch(
      new RegExp(
        `^key_\\w+  first  ${key.slice(0, 11)}…${key.slice(-4)}  read,write  \\S+Z  \\S+Z  -`,
        'm',
      ),
    )
    expect(list + shown).not.toMatch(/\b\d+n\b|GMT|undefined|null|\[object|[│┌']/)
  })
})

describe('key create', () => {
  test('creates a key whose scope read cannot write, and which expires at --expires', async () => {
    const { id } = await newAccount()
    const ends = new Date(Math.ceil(Date.now() / 1000) * 1000 + 86_400_000).toISOString()
    const options = ['--name', 'reader', '--scopes', 'read', '--expires', ends]
    const made = await output('key', 'create', id, ...options)
    const key = keyIn(made)
    expect(made).toContain(`It expires at ${ends.replace('.000', '')}.`)
    expect(await call(key)).toMatchObject({ accountId: id, verdict: 'admitted' })
    expect(await call(key, 'write')).toMatchObject({ verdict: 'outOfScope' })
    const row = await rowOf(key)
    expect(row).toMatchObject({ name: 'reader', scopes: ['read'], expires_at: new Date(ends) })
    await database.db('api_key').where({ id: row.id }).update({ expires_at: new Date() })
    expect(await call(key)).toBeUndefined()
  })
})

describe('key revoke', () => {
  test('revokes a key at once, and rejects a second revocation', async () => {
    const { key } = await newAccount()
    const { id } = await rowOf(key)
    expect(await call(key)).toMatchObject({ verdict: 'admitted' })
    expect(await output('key', 'revoke', id)).toBe('Revoked.\n')
    expect(await call(key)).toBeUndefined()
    await expectRefused(['key', 'revoke', id], `There is no valid key ${id}.`)
  })
})

describe('key roll', () => {
  test('creates a successor with the same scopes, and the old key ends after the grace period', async () => {
    const { id, key } = await newAccount()
    const reader = await createApiKey(database.db, id, { name: 'r', scopes: ['read'] })
    const old = await rowOf(reader)
    const rolled = await output('key', 'roll', old.id, '--grace', '2')
    const successor = keyIn(rolled)
    expect(await rowOf(successor)).toMatchObject({ name: 'r', scopes: ['read'], expires_at: null })
    for (const live of [reader, successor, key]) {
      expect(await call(live)).toMatchObject({ accountId: id, verdict: 'admitted' })
    }
    const { expires_at: ends } = await rowOf(reader)
    const leftMs = (ends?.getTime() ?? 0) - Date.now()
    expect(leftMs).toBeGreaterThan(1.9 * 3_600_000)
    expect(leftMs).toBeLessThanOrEqual(2 * 3_600_000)
    expect(rolled).toContain(`The old key ends at ${ends?.toISOString().replace(/\.\d+/, '')}.`)
    const past = { expires_at: new Date(Date.now() - 1) }
    await database.db('api_key').where({ id: old.id }).update(past)
    expect(await call(reader)).toBeUndefined()
    expect(await call(successor)).toMatchObject({ verdict: 'admitted' })
  })

  test('--grace 0 ends the old key at once', async () => {
    const { key } = await newAccount()
    const { id } = await rowOf(key)
    const successor = keyIn(await output('key', 'roll', id, '--grace', '0'))
    expect(await call(key)).toBeUndefined()
    expect(await call(successor)).toMatchObject({ verdict: 'admitted' })
  })
})

describe('credits grant', () => {
  test('adds to the ledger and the balance, once per reference', async () => {
    const { id, key } = await newAccount()
    const grant = ['credits', 'grant', id, '500', '--reference', `invoice ${id}`]
    expect(await output(...grant)).toContain('Credits  500 left, 500 bought, 0 used\n')
    await expectRefused(grant, `The reference invoice ${id} was used before.`)
    const entries = database.db('ledger').where({ account_id: id, reason: 'purchase' })
    expect(await entries.select('request_id', 'delta')).toEqual([
      { request_id: `invoice ${id}`, delta: 500n },
    ])
    expect(await call(key, 'read', 10_400)).toMatchObject({ verdict: 'admitted', balance: 100n })
  })
})

describe('the database', () => {
  test('defaults to that of a running npm start, and names it', async () => {
    const file = join(home, 'dev.json')
    await writeFile(file, JSON.stringify({ databaseUrl: database.url }))
    const { code, stdout, stderr } = await account(['list'], '')
    const { host, pathname } = new URL(database.url)
    expect([code, stderr]).toEqual([0, `Database of npm start: ${host}${pathname}\n`])
    expect(stdout).toContain('acct_')
    await rm(file)
    await expectRefused(
      ['list'],
      'DATABASE_URL is not set and npm start is not running. Set DATABASE_URL, or run npm start.',
      '',
    )
  })

  test('error: one line without the password when the database is unusable', async () => {
    const url = (change: Partial<URL>) => Object.assign(new URL(database.url), change).href
    const empty = newId('steward_test_')
    await database.db.raw(`create database ${empty} template template0`)
    const asApi = database.urlAs('steward_api')
    const cases: [string, string | RegExp][] = [
      [url({ port: '1', password: 'hunter2' }), 'does not answer (ECONNREFUSED).'],
      [url({ pathname: '/nowhere' }), 'does not exist.'],
      [url({ pathname: `/${empty}` }), 'is not migrated to this version. Run npm run migrate'],
      [asApi, 'belongs to another role. Use the role of its owner.'],
      ['localhost:5432', 'DATABASE_URL must be an address such as postgres://'],
    ]
    for (const [where, message] of cases) {
      const { code, stdout, stderr } = await account(['list'], where)
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toContain(message)
      expect(stderr.trimEnd().split('\n')).toHaveLength(1)
      expect(stderr).not.toMatch(/hunter2|postgres:\/\/\w+:\w+@(?!host)/)
    }
    await database.db.raw(`drop database ${empty}`)
  })
})

describe('a wrong call', () => {
  test('error: the program prints one line and exits with 1', async () => {
    await expectRefused(['--json'], 'The command is missing. Help: npm run account -- --help')
    await expectRefused(['show', 'acct_none'], 'There is no account acct_none.')
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const args = ['--import', 'tsx', join(root, 'admin', 'account.ts'), 'show', 'acct_none']
    const env = { ...process.env, NODE_OPTIONS: '', DATABASE_URL: database.url }
    await expect(
      promisify(execFile)(process.execPath, args, { cwd: root, env }),
    ).rejects.toMatchObject({ code: 1, stdout: '', stderr: 'There is no account acct_none.\n' })
  })

  test.each<[string[]]>([[['--help']], [[]]])('%j lists all commands', async (args) => {
    const help = await output(...args)
    for (const name of ['create', 'list', 'show', 'plan', 'suspend', 'key roll', 'credits grant']) {
      expect(help).toContain(`\n  ${name}`)
    }
  })
})
