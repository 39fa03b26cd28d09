import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHash, randomBytes } from 'node:crypto'
import { createAccount, createApiKey, grantCredits } from '../../db/accounts/accounts.js'
import { inviteMember } from '../../db/accounts/invitations.js'
import { connect, type Db } from '../../db/client/connect.js'
import { newId } from '../../db/client/ids.js'
import { scopeSession, scopeTransaction } from '../../db/client/scope.js'
import { pauseWork } from '../../db/pauses.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { roles, type DatabaseRole } from './forbidden.js'
import { insertTestIntent, insertTestWallet } from './rows.js'

/** Each trail has old and new rows, so that a statement without a floor would delete some. */
const trails = [
  ...['audit_event', 'member_action', 'ledger', 'idempotency_key', 'read_token'],
  ...['intent_event', 'request_log', 'request_day', 'webhook_delivery'],
]

let database: TestDatabase
let owner: Member
let other: Member
const pools = new Map<DatabaseRole, Db>()

beforeAll(async () => {
  database = await createDatabase()
  for (const role of roles) pools.set(role, connect(database.urlAs(role), 1))
  owner = await newMember()
  other = await newMember()
  await leaveTrails()
})
afterAll(async () => {
  await Promise.all([...pools.values()].map((pool) => pool.destroy()))
  await database.drop()
})

type Member = { accountId: string; userId: string; tokenHash: Buffer }

/** An owner of a new account, signed in. */
async function newMember(): Promise<Member> {
  const { db } = database
  const { id: accountId } = await createAccount(db, { name: 'test', plan: 'pro' })
  const userId = newId('user_')
  const tokenHash = randomBytes(32)
  await db('app_user').insert({
    ...{ id: userId, email: `${userId}@example.com`, name: 'Ann', password_hash: 'x' },
  })
  await db('membership').insert({ account_id: accountId, user_id: userId, role: 'owner' })
  await db('user_session').insert({
    ...{ id: newId('session_'), token_hash: tokenHash, user_id: userId, account_id: accountId },
    ...{ user_agent: 'test', address: '127.0.0.1' },
  })
  return { accountId, userId, tokenHash }
}

async function leaveTrails(): Promise<void> {
  const { db } = database
  const { accountId, userId } = owner
  const account_id = accountId
  const wallet = await insertTestWallet(db)
  const intent = await insertTestIntent(db, wallet, 'planning')
  const order = { by: 'alice', why: 'a drill' }
  await pauseWork(db, { scope: 'account', subject: accountId }, order)
  await db('member_action').insert({ account_id, user_id: userId, action: 'x', subject: 'y' })
  await grantCredits(db, accountId, { credits: 1 })
  await db('ledger').insert({ account_id, request_id: 'r', reason: 'charge:x', delta: -1 })
  const answer = { fingerprint: Buffer.alloc(32), status: 201, body: '{}' }
  const tomorrow = new Date(Date.now() + 86_400_000)
  await db('idempotency_key').insert([
    { account_id, endpoint: '/v1/intents', key: 'kept', ...answer },
    { account_id, endpoint: '/v1/wallets', key: 'young', ...answer, expires_at: tomorrow },
  ])
  await db('read_token').insert({
    ...{ token_hash: randomBytes(32), account_id: wallet.accountId, intent_id: intent },
    expires_at: new Date(Date.now() + 600_000),
  })
  await db('intent_event').insert({ account_id, type: 'webhook.test', data: {} })
  await db('request_log').insert({
    ...{ account_id, id: 'req', at: new Date(), caller_id: '', method: 'GET', path: '/' },
    ...{ status: 200, credits: 0, ms: 1 },
  })
  const counted = { account_id, caller_id: '', requests: 1, errors: 0, credits: 0 }
  await db('request_day').insert({ ...counted, day: new Date(), endpoint: 'GET /' })
  await db('webhook').insert({ id: 'webhook', account_id, url: 'https://x.example' })
  await db('webhook_delivery').insert({
    ...{ webhook_id: 'webhook', account_id, event_id: 1, type: 'webhook.test' },
    ...{ status: 'delivered', next_attempt_at: null },
  })
}

/** All rows of all trails. */
async function readTrails(): Promise<Record<string, object[]>> {
  const entries = await Promise.all(
    trails.map(async (table) => [table, await database.db(table).select<object[]>()] as const),
  )
  return Object.fromEntries(entries)
}

/** Statements that erase or forge entries, as an attacker with the login of a process would try them. */
const attempts = [
  ...trails.flatMap((table) => [
    `delete from ${table}`,
    `truncate ${table} cascade`,
    `drop table ${table} cascade`,
    `insert into ${table} (account_id) values ('forged')`,
    `alter table ${table} disable trigger all`,
  ]),
  `update audit_event set actor = 'unknown'`,
  `update member_action set action = 'unknown'`,
  'update ledger set delta = 0',
  'update request_day set requests = 0',
  'update event_floor set id = 0',
  ...[0, -1, -100_000].flatMap((days) => [
    `select drop_partitions('intent_event', ${days})`,
    `select drop_partitions('request_log', ${days})`,
    `select sum_ledger(${days}, 1000)`,
    `select forget_bytes(${days}, 1000)`,
  ]),
  `select drop_partitions('wallet', 31)`,
  `insert into audit_event (actor, action, subject, why) values ('a', 'b', 'c', 'd')`,
  `insert into member_action (account_id, user_id, action, subject) values ('a', 'b', 'c', 'd')`,
  `select append_member_action('key create', 'x', 'y')`,
  `select record_member_action()`,
  `select record_operator_action()`,
]

describe('the trail', () => {
  test.each(roles)('is neither erased nor forged by %s', async (role) => {
    const before = await readTrails()
    for (const [table, rows] of Object.entries(before))
      expect([table, rows]).not.toEqual([table, []])
    const db = pools.get(role) as Db
    for (const sql of attempts) {
      await db
        .transaction(async (trx) => {
          await scopeTransaction(trx, owner.accountId)
          await trx.raw(sql)
        })
        .catch(() => undefined)
    }
    expect(await readTrails()).toEqual(before)
  })
})

describe('an act of a member', () => {
  const makeKey = (set: (trx: Db) => Promise<unknown>) =>
    (pools.get('steward_api') as Db).transaction(async (trx) => {
      await scopeTransaction(trx, owner.accountId)
      await set(trx)
      return createApiKey(trx, owner.accountId, { name: 'made' })
    })
  const acts = () =>
    database.db('member_action').where({ action: 'key create' }).pluck<string[]>('user_id')

  test('is attributed to the member of the session', async () => {
    await makeKey((trx) => scopeSession(trx, owner.tokenHash))
    expect(await acts()).toEqual([owner.userId])
  })

  test.each<[string, (trx: Db) => Promise<unknown>]>([
    ['a user id', (trx) => trx.raw(`select set_config('app.member', ?, true)`, [owner.userId])],
    ['an unknown session', (trx) => scopeSession(trx, createHash('sha256').digest())],
    ['a session in another account', (trx) => scopeSession(trx, other.tokenHash)],
    ['no session', () => Promise.resolve()],
  ])('error: refused with %s', async (_title, set) => {
    const before = await acts()
    await expect(makeKey(set)).rejects.toMatchObject({ code: '23502' })
    expect(await acts()).toEqual(before)
  })

  test('error: refused after the end of the session', async () => {
    const ended = await newMember()
    const sessions = database.db('user_session').where({ user_id: ended.userId })
    await sessions.update({ ended_at: new Date(Date.now() - 1_000) })
    await expect(makeKey((trx) => scopeSession(trx, ended.tokenHash))).rejects.toThrow()
  })

  test('error: an invitation in the name of another member', async () => {
    const invited = (pools.get('steward_api') as Db).transaction(async (trx) => {
      await scopeTransaction(trx, owner.accountId)
      await scopeSession(trx, owner.tokenHash)
      const invitation = { accountId: owner.accountId, email: 'x@example.com' }
      return inviteMember(trx, { ...invitation, role: 'owner', invitedBy: other.userId })
    })
    await expect(invited).rejects.toMatchObject({ code: '42501' })
  })
})
