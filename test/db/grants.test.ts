import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../db/client/connect.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { cases, roles, type DatabaseRole } from './forbidden.js'

let database: TestDatabase
const pools = new Map<DatabaseRole, Db>()

beforeAll(async () => {
  database = await createDatabase()
  for (const role of roles) pools.set(role, connect(database.urlAs(role), 2))
})
afterAll(async () => {
  await Promise.all([...pools.values()].map((pool) => pool.destroy()))
  await database.drop()
})

/** `42501`: insufficient privilege. Other errors mean that the statement itself was allowed. */
async function isAllowed(role: DatabaseRole, sql: string): Promise<boolean> {
  try {
    await pools.get(role)?.raw(sql)
    return true
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === '42P01' || code === '42703' || code === '42601') throw error
    return code !== '42501'
  }
}

describe('grants', () => {
  test.each(cases)('%s cannot: %s', async (role, sql) => {
    expect(await isAllowed(role, sql)).toBe(false)
  })

  test.each(roles)('%s cannot create tables or roles', async (role) => {
    expect(await isAllowed(role, 'create table mine (id int)')).toBe(false)
    expect(await isAllowed(role, 'create role steward_more')).toBe(false)
    expect(await isAllowed(role, 'truncate intent')).toBe(false)
  })

  test.each([
    ['steward_api', 'select address, created_at from treasury'],
    ['steward_api', 'select id from wallet for update'],
    ['steward_api', 'update intent set dispatched_at = now()'],
    ['steward_api', "select cancel_intent('', '')"],
    ['steward_api', 'select * from yield_snapshot'],
    ['steward_api', 'select operation_id, burned_at, attested_at from burn'],
    ['steward_api', 'select * from bridge_fee'],
    ['steward_api', 'update api_key set revoked_at = now(), expires_at = now()'],
    ['steward_api', 'select id, email, name from app_user'],
    ['steward_api', 'update user_session set ended_at = now()'],
    ['steward_api', 'update invitation set ended_at = now()'],
    ['steward_api', 'delete from membership'],
    ['steward_signer', "update operation set waits_for = 'SIGNER', waits_since = now()"],
    ['steward_relayer', 'update operation set block_time = now()'],
    ['steward_worker', 'select * from bridge_fee'],
    ['steward_worker', 'select id from wallet for update'],
    ['steward_worker', 'select sender, next_nonce from sender'],
    ['steward_api', 'select sender, purpose from sender'],
    [
      'steward_signer',
      'update sender set out_of_gas_since = null, unpaid_gas = null, refill_tx = null',
    ],
    ['steward_relayer', 'select id, address from wallet'],
    ['steward_relayer', 'update bridge_fee set fast_millionths = 0'],
    ['steward_relayer', 'select address from treasury'],
    ['steward_relayer', 'select raw from chain_tx_send'],
    ['steward_relayer', 'select operation_id from signature'],
    ['steward_signer', 'select payload from signature'],
    ['steward_api', 'select scope, subject, since from pause'],
    ['steward_worker', 'select why from pause join audit_event e on e.id = begun_by'],
    ['steward_worker', 'delete from signed_amount'],
    ['steward_worker', 'select sealed from webhook_secret'],
    ['steward_worker', 'select dispatch_webhooks(1)'],
    ['steward_api', "select test_webhook('')"],
    ['steward_api', 'select webhook_id, ends_at from webhook_secret'],
    ['steward_signer', 'select * from pause'],
    ['steward_signer', 'insert into signed_amount (units) values (null)'],
    ['steward_relayer', 'update chain_tx_send set sent_at = now(), sent_block = 1, refusals = 1'],
    ['steward_relayer', 'update chain_tx_send set leaving_at = now()'],
    ['steward_relayer', 'select scope, subject, until from pause'],
    [
      'steward_signer',
      'insert into chain_tx_send (tx_id, n, hash, raw, max_fee) values (0, 1, 1, 1, 1)',
    ],
    ['steward_api', 'select * from request_log'],
    ['steward_api', 'select * from request_day'],
    [
      'steward_api',
      "select record_requests('{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')",
    ],
    ['steward_worker', 'delete from request_day'],
    ['steward_worker', "select create_partitions('intent_event', 'month', 2)"],
    ['steward_worker', "select drop_partitions('request_log', 30)"],
    ['steward_worker', 'select forget_bytes(30, 1), sum_ledger(400, 1)'],
    ['steward_api', 'select * from event_floor'],
    ['steward_api', 'select * from account_lent'],
    ['steward_signer', 'select sealed from wallet_secret'],
    ['steward_signer', 'select sealed_key from sender'],
  ] as const)('%s can: %s', async (role, sql) => {
    expect(await isAllowed(role, sql)).toBe(true)
  })
})
