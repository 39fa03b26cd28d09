import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { userInfo } from 'node:os'
import { createApiKey, type Scope } from '../../db/accounts/accounts.js'
import { readCommand } from '../../admin/account/accountCommand.js'
import { insertTestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { admitCall, createTestAccount, findKeyRow, keyIn } from './accounts.js'

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

/** The output of a command. */
async function output(...argv: string[]): Promise<string> {
  printed = ''
  await readCommand(argv)?.(database.db)
  return printed
}
const rowOf = (key: string) => findKeyRow(database.db, key)
const call = (key: string, scope: Scope = 'read', cost = 0) =>
  admitCall(database.db, key, { scope, cost })
const newAccount = () => createTestAccount(database.db)

describe('key roll and the expiry of the old key', () => {
  const endsAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 90 * 86_400_000)
  const text = endsAt.toISOString().replace('.000', '')
  const rollExpiring = async (...options: string[]) => {
    const { id } = await newAccount()
    const old = await createApiKey(database.db, id, { name: 'r', expiresAt: endsAt })
    const rolled = await output('key', 'roll', (await rowOf(old)).id, ...options)
    return { rolled, successor: await rowOf(keyIn(rolled)) }
  }

  test('keeps the expiry of the old key', async () => {
    const { rolled, successor } = await rollExpiring()
    expect(successor).toMatchObject({ expires_at: endsAt })
    expect(rolled).toContain(`It expires at ${text}.`)
  })

  test('uses the date, or never, of --expires', async () => {
    const later = new Date(endsAt.getTime() + 86_400_000).toISOString()
    const { successor } = await rollExpiring('--expires', later)
    expect(successor).toMatchObject({ expires_at: new Date(later) })
    const endless = await rollExpiring('--expires', 'never')
    expect(endless.successor).toMatchObject({ expires_at: null })
    expect(endless.rolled).not.toContain('It expires')
  })
})

describe('plan', () => {
  const grants = (id: string) =>
    database.db('ledger').where({ account_id: id }).whereLike('reason', 'grant:%').pluck('delta')

  test('sets the limits of the plan, and grants a higher monthly allowance at once, once', async () => {
    const { id, key } = await newAccount()
    await call(key, 'read', 3)
    expect(await output('plan', id, 'enterprise')).toContain(
      'Plan     enterprise\nState    active\nLimits   10000 requests per minute, unlimited wallets\n' +
        'Credits  999997 left, 0 bought, 3 used\nMonthly  1000000 credits,',
    )
    expect(await call(key)).toMatchObject({ tier: 'enterprise', limit: 10_000, balance: 999_997n })
    await output('plan', id, 'pro')
    await output('plan', id, 'enterprise')
    expect(await call(key)).toMatchObject({ balance: 999_997n })
    expect(await grants(id)).toEqual([10_000n, 990_000n])
  })

  test('applies a lower monthly allowance from the next month, and other limits at once', async () => {
    const { id, key } = await newAccount()
    await call(key)
    expect(await output('plan', id, 'free')).toContain(
      'Limits   100 requests per minute, 100 wallets',
    )
    expect(await call(key)).toMatchObject({ tier: 'free', limit: 100, balance: 10_000n })
    await database.db('account').where({ id }).update({ period: 202_001 })
    expect(await call(key)).toMatchObject({ balance: 100n })
  })

  test('grants the credits of the new plan to an account without a call this month', async () => {
    const { id, key } = await newAccount()
    await output('plan', id, 'free')
    expect(await call(key)).toMatchObject({ balance: 100n })
    expect(await grants(id)).toEqual([100n])
  })
})

describe('suspend and resume', () => {
  const why = ['--why', 'an unpaid bill', '--by', 'alice']

  test('reject all keys of a suspended account from the next request, without a charge', async () => {
    const { id, key } = await newAccount()
    const other = await newAccount()
    expect(await call(key)).toMatchObject({ verdict: 'admitted' })
    expect(await output('suspend', id, ...why)).toMatch(/^State {4}suspended since \d{4}-\S+Z$/m)
    for (const scope of ['read', 'write'] as const) {
      expect(await call(key, scope, 5)).toMatchObject({ verdict: 'suspended', balance: 10_000n })
    }
    expect(await call(other.key)).toMatchObject({ verdict: 'admitted' })
    expect(await output('list')).toMatch(new RegExp(`^${id}  .+Z +\\d{4}-\\S+Z$`, 'm'))
    await expect(output('suspend', id, ...why)).rejects.toThrow(
      `The account ${id} is already suspended.`,
    )
    expect(await output('resume', id, ...why)).toContain('State    active\n')
    expect(await call(key, 'read', 5)).toMatchObject({ verdict: 'admitted', balance: 9_995n })
    await expect(output('resume', id, ...why)).rejects.toThrow(
      `The account ${id} is not suspended.`,
    )
  })

  test('grant no credits for a month of suspension', async () => {
    const { id, key } = await newAccount()
    await output('suspend', id, ...why)
    expect(await call(key)).toMatchObject({ verdict: 'suspended', balance: 0n })
    await output('resume', id, ...why)
    expect(await call(key)).toMatchObject({ verdict: 'admitted', balance: 10_000n })
  })

  test('record each effective action with operator and reason', async () => {
    const { id } = await newAccount()
    await output('suspend', id, ...why)
    await expect(output('suspend', id, ...why)).rejects.toThrow('is already suspended.')
    await output('resume', id, '--why', 'it is paid')
    await expect(output('resume', id, ...why)).rejects.toThrow('is not suspended.')
    await expect(output('suspend', 'acct_none', ...why)).rejects.toThrow('There is no account')
    const entries = await database
      .db('audit_event')
      .whereIn('subject', [id, 'acct_none'])
      .whereIn('action', ['account suspend', 'account resume'])
      .orderBy('id')
      .select<object[]>('actor', 'action', 'why', 'at')
    expect(entries).toEqual([
      { actor: 'alice', action: 'account suspend', why: 'an unpaid bill', at: expect.any(Date) },
      {
        actor: userInfo().username,
        action: 'account resume',
        why: 'it is paid',
        at: expect.any(Date),
      },
    ])
    expect(await output('events')).toMatch(new RegExp(`alice +account suspend +${id} +an unpaid`))
  })

  test.each(['suspend', 'resume'])('error: %s without a reason', (action) => {
    expect(() => readCommand([action, 'acct_none'])).toThrow('--why is missing.')
  })
})

describe('freeze and pause', () => {
  const why = ['--why', 'a drill', '--by', 'alice']

  test('pause and resume an account, a wallet, a chain and the deployment, each with a reason', async () => {
    const { id } = await newAccount()
    const wallet = await insertTestWallet(database.db)
    const entries: [stop: string[], resume: string[], row: string][] = [
      [['freeze', id], ['unfreeze', id], `account  ${id}`],
      [['wallet', 'freeze', wallet.id], ['wallet', 'unfreeze', wallet.id], wallet.id],
      [['chain', 'pause', 'base'], ['chain', 'resume', 'base-sepolia'], 'base-sepolia'],
      [['deployment', 'pause'], ['deployment', 'resume'], 'deployment  all'],
    ]
    for (const [stop, , row] of entries) {
      const listed = await output(...stop, ...why)
      expect(listed).toContain(row)
      expect(listed).toMatch(/alice +a drill/)
      await expect(output(...stop, ...why)).rejects.toThrow(/is already (frozen|paused)\.$/)
    }
    expect((await output('pauses')).trim().split('\n')).toHaveLength(5)
    for (const [, resume] of entries) await output(...resume, ...why)
    expect(await output('pauses')).toContain('Nothing is frozen or paused.')
    await expect(output('deployment', 'resume', ...why)).rejects.toThrow('is not paused.')
    await expect(output('chain', 'resume', 'Base', ...why)).rejects.toThrow(
      'The chain base-sepolia is not paused.',
    )
    const events = await output('events')
    expect(
      events
        .trim()
        .split('\n')
        .filter((one) => one.includes('a drill')),
    ).toHaveLength(8)
    expect(events).toMatch(/alice +chain pause +base-sepolia +a drill/)
    const stored = JSON.parse(await output('events', '--json')) as { events: object[] }
    expect(stored.events).toContainEqual(
      expect.objectContaining({ action: 'chain pause', subject: 'base-sepolia' }),
    )
  })

  test.each([
    [['deployment', 'pause'], '--why is missing.'],
    [['deployment', 'pause', '--why', ' '], '--why must be a line'],
    [['chain', 'pause', 'mars', ...why], 'CHAIN must be one of ethereum-sepolia,'],
    [['wallet', 'freeze', ...why], 'wallet freeze: WALLET is missing.'],
    [['freeze', ...why], 'freeze: ACCOUNT is missing.'],
    [['pauses', ...why], 'pauses has no option --why.'],
  ])('error: %j: %s', (argv, message) => {
    expect(() => readCommand(argv)).toThrow(message)
  })

  test('the operator defaults to the user of the machine', async () => {
    await output('deployment', 'pause', '--why', 'a drill')
    const listed = await output('deployment', 'resume', '--why', 'over')
    expect(listed).toContain('Nothing is frozen or paused.')
    expect(await output('events')).toContain(userInfo().username)
  })
})

describe('--json', () => {
  const json = async (...args: string[]) =>
    JSON.parse(await output(...args, '--json')) as Record<string, unknown>

  test('prints the result of every command as JSON only', async () => {
    const made = await json('create', '--plan', 'pro', '--name', 'Acme Ltd')
    const { id } = made.account as { id: string }
    const account = {
      ...{ id, name: 'Acme Ltd', plan: 'pro', requestsPerMinute: 1_000, maxWallets: 10_000 },
      ...{ monthlyCredits: 10_000, createdAt: expect.any(String), suspendedAt: null },
    }
    const none = { balance: 0, totalPurchased: 0, totalUsed: 0 }
    const apiKey = expect.stringMatching(/^svc_sk_[0-9a-f]{64}$/)
    expect(made).toEqual({ account: { ...account, credits: none }, apiKey, expiresAt: null })
    expect((await json('list')).accounts).toContainEqual(account)

    const expiresAt = '2199-01-01T00:00:00.000Z'
    const expiring = ['--name', 'r', '--expires', expiresAt]
    const key = await json('key', 'create', id, ...expiring)
    expect(key).toEqual({ apiKey, expiresAt })
    const row = await rowOf(String(key.apiKey))
    const listed = await json('key', 'list', id)
    expect(listed.keys).toHaveLength(2)
    expect(listed.keys).toContainEqual({
      ...{ id: row.id, name: 'r', prefix: row.prefix, lastFour: row.last_four },
      ...{ scopes: ['read', 'write'], createdAt: expect.any(String), lastUsedAt: null },
      ...{ expiresAt, revokedAt: null },
    })
    expect(await json('show', id)).toEqual({ account: { ...account, credits: none }, ...listed })
    expect(await json('key', 'roll', row.id)).toEqual({
      apiKey,
      expiresAt,
      oldEndsAt: expect.any(String),
    })
    expect(await json('key', 'revoke', row.id)).toEqual({ revoked: row.id })

    const bought = { balance: 5, totalPurchased: 5, totalUsed: 0 }
    expect(await json('credits', 'grant', id, '5')).toEqual({
      account: { ...account, credits: bought },
    })
    expect(await json('plan', id, 'enterprise')).toMatchObject({
      account: { plan: 'enterprise', maxWallets: null },
    })
    expect(await json('suspend', id, '--why', 'w')).toMatchObject({
      account: { suspendedAt: expect.any(String) },
    })
    expect(await json('resume', id, '--why', 'w')).toMatchObject({ account: { suspendedAt: null } })
  })
})

describe('a wrong call', () => {
  const none = 'acct_none'
  const key = ['key', 'create', none, '--name', 'n']

  test.each<[string, string[], string]>([
    ['no command', ['--json'], 'The command is missing. Help: npm run account -- --help'],
    ['an unknown command', ['remove', none], 'Unknown command remove acct_none.'],
    ['a name of JavaScript', ['constructor'], 'Unknown command constructor.'],
    ['an unknown option', ['list', '--all'], "Unknown option '--all'"],
    ['an option without its value', ['create', '--plan'], "Option '--plan <value>' argument"],
    ['an option of another command', ['list', '--plan', 'pro'], 'list has no option --plan.'],
    ['a missing argument', ['key', 'list'], 'key list: ACCOUNT is missing.'],
    ['an empty argument', ['show', ''], 'show: ACCOUNT is missing.'],
    ['an argument too many', ['show', none, 'x'], 'show: unexpected argument x.'],
    ['a bad plan', ['create', '--name', 'n', '--plan', 'gold'], '--plan must be one of free, pro,'],
    ['no name', ['create', '--plan', 'pro'], '--name is missing.'],
    ['a bad name', ['create', '--plan', 'pro', '--name', 'a\nb'], '--name must be a line of 1 to'],
    ['another bad plan', ['plan', none, 'gold'], 'PLAN must be one of free, pro, enterprise.'],
    ['no plan', ['plan', none], 'plan: PLAN is missing.'],
    ['a bad scope', [...key, '--scopes', 'admin'], '--scopes must be read, write or read,write.'],
    ['no date', [...key, '--expires', '2027-02-30'], '--expires must be a date such as'],
    ['a past date', [...key, '--expires', '2020-01-01'], '--expires 2020-01-01 has passed.'],
    ['a bad grace', ['key', 'roll', 'k', '--grace', '-1'], "Option '--grace' argument is ambig"],
    ['a long grace', ['key', 'roll', 'k', '--grace', '9999'], '--grace must be a whole number fr'],
    ['a bad number', ['credits', 'grant', none, '1e3'], 'CREDITS must be a whole number from 1'],
  ])('error: %s is rejected in one line, without a database', (_title, argv, message) => {
    const refused = expect.objectContaining({
      ...{ code: 'INVALID_REQUEST', message: expect.stringMatching(/^.+$/) },
    })
    expect(() => readCommand(argv)).toThrow(refused)
    expect(() => readCommand(argv)).toThrow(message)
  })

  test.each<[string, string[], string]>([
    ['an unknown account', ['show', none], 'There is no account acct_none.'],
    ['keys of an unknown account', ['key', 'list', none], 'There is no account acct_none.'],
    ['a key for an unknown account', key, 'There is no account acct_none.'],
    ['credits for it', ['credits', 'grant', none, '5'], 'There is no account acct_none.'],
    ['a plan for it', ['plan', none, 'pro'], 'There is no account acct_none.'],
    ['its suspension', ['suspend', none, '--why', 'w'], 'There is no account acct_none.'],
    ['its resumption', ['resume', none, '--why', 'w'], 'There is no account acct_none.'],
    ['an unknown key', ['key', 'revoke', 'key_none'], 'There is no valid key key_none.'],
    ['a successor of it', ['key', 'roll', 'key_none'], 'There is no valid key key_none.'],
  ])('error: %s', async (_title, argv, message) => {
    const done = readCommand(argv)?.(database.db)
    await expect(done).rejects.toMatchObject({ code: 'NOT_FOUND', message })
  })
})
