import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { connect, type Db } from '../../db/connection/connect.js'
import { createDatabase, type TestDatabase } from '../support/database.js'

const roles = ['steward_api', 'steward_worker', 'steward_lanes', 'steward_signer'] as const
type Role = (typeof roles)[number]

let database: TestDatabase
const pools = new Map<Role, Db>()

beforeAll(async () => {
  database = await createDatabase()
  for (const role of roles) pools.set(role, connect(database.urlAs(role), 2))
})
afterAll(async () => {
  await Promise.all([...pools.values()].map((pool) => pool.destroy()))
  await database.drop()
})

/** `42501`: insufficient privilege. Other errors mean that the statement itself was allowed. */
async function isAllowed(role: Role, sql: string): Promise<boolean> {
  try {
    await pools.get(role)?.raw(sql)
    return true
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === '42P01' || code === '42703' || code === '42601') throw error
    return code !== '42501'
  }
}

const secrets = [
  'select sealed from wallet_secret',
  'select sealed_key from lane',
  'select sealed from treasury',
  'select * from lane',
  'select * from treasury',
  'copy wallet_secret to stdout',
]

/** What the chains say of an operation. Only the lanes read it there. */
const outcomes = [
  'update operation set units = 1',
  'update operation set success = true',
  "update operation set tx_hash = '0x'",
  'update operation set block_number = 1',
  "update operation set block_hash = '0x'",
  'update operation set log_index = 0',
  'update operation set gas_used = 0',
  'update operation set gas_cost_usd = 0',
]
/** What is signed. Only the signer writes it. */
const signatures = [
  'select payload from signature',
  'insert into signature (operation_id) values (null)',
  "update signature set payload = '{}'",
  'delete from signature',
  'update operation set lost_leases = 0',
]
/** What nodes answer to signed bytes. Only the lanes write it. */
const answers = [
  'update chain_tx_send set refusals = 0',
  'update chain_tx_send set sent_at = now()',
  'update chain_tx_send set sent_block = 1',
  'insert into chain_tx_send (refusals) values (3)',
]
const messages = [
  "update burn set message = '0x'",
  "update burn set attestation = '0x'",
  "update burn set event_nonce = '0x'",
  "update burn set sent = '0x'",
  'update burn set burned_at = now()',
  'update burn set minted = true',
]
const blocks = [
  'insert into chain (id) values (null)',
  'update chain set booked_block = 0',
  "update chain set booked_hash = '0x'",
  'insert into block_header (number) values (null)',
  "update block_header set hash = '0x'",
  'delete from block_header',
  "update chain_tx set state = 'final'",
]

/** What a bridge costs. Only the lanes write it. */
const fees = [
  'insert into bridge_fee (protocol) values (null)',
  'update bridge_fee set fast_millionths = 0',
  'delete from bridge_fee',
]

/** What operators stop, and what the signer counts. Nobody takes either back. */
const stops = [
  "insert into stop (scope) values ('deployment')",
  'update stop set until = now()',
  'delete from stop',
  "insert into audit_event (actor) values ('x')",
  "update audit_event set why = 'x'",
  'delete from audit_event',
  'update signed_amount set units = 1',
  'delete from signed_amount',
]

/** What each role must not be able to do, whoever has taken the process over. */
const forbidden: Record<Role, string[]> = {
  steward_api: [
    ...secrets,
    'update wallet_secret set kek_id = kek_id',
    'delete from wallet_secret',
    'insert into kek values (null)',
    'update kek set active = false',
    'insert into operation (id) values (null)',
    'select operation_id from signature',
    ...signatures,
    "update operation set state = 'queued'",
    'delete from operation',
    "update intent set status = 'completed'",
    'update intent set plan = null',
    'update intent set units = 1',
    'delete from intent',
    'update funding set units = 1',
    'update reservation set released_at = now()',
    'delete from reservation',
    "update wallet set address = ''",
    "update wallet set account_id = ''",
    'delete from wallet',
    'insert into account (id) values (null)',
    "update account set plan = 'enterprise'",
    'insert into api_key (id) values (null)',
    'update api_key set revoked_at = null',
    'insert into lane (sender) values (null)',
    'update lane set next_nonce = 0',
    'update lane set dry_since = null',
    'select refill_tx from lane',
    'select raw from chain_tx_send',
    'insert into chain_tx_send (raw) values (null)',
    ...answers,
    'update chain set booked_block = 0',
    'update deployment set network = null',
    'insert into migration (name) values (null)',
    'insert into yield_snapshot (chain) values (null)',
    'delete from yield_snapshot',
    ...fees,
    ...stops,
    'select * from audit_event',
    'select begun_by from stop',
    'select * from signed_amount',
  ],
  steward_worker: [
    ...secrets,
    "update operation set resource = ''",
    "insert into operation (id, resource) values ('x', '')",
    'update intent set seen_blocks = null',
    ...answers,
    'insert into wallet_secret (wallet_id) values (null)',
    'insert into wallet (id) values (null)',
    "update wallet set address = ''",
    'insert into kek values (null)',
    'insert into intent (id) values (null)',
    'insert into funding (id) values (null)',
    'select key_hash from api_key',
    'insert into chain_tx_send (raw) values (null)',
    "update chain_tx_send set raw = ''",
    'update lane set next_nonce = 0',
    'update lane set dry_since = null',
    "update lane set purpose = 'operations'",
    'insert into treasury (address) values (null)',
    'update account set plan = plan',
    'delete from operation',
    'delete from reservation',
    'delete from intent',
    'update yield_snapshot set apy_percent = 1',
    'delete from yield_snapshot',
    "select cancel_intent('', '')",
    "select reconsider_intents('{}')",
    'update intent set recover_at = null',
    ...outcomes,
    ...signatures,
    ...messages,
    ...blocks,
    'select operation_id from signature',
    'update operation set carry_failures = 0',
    'update operation set spent_since = null',
    'update reservation set units = 1',
    'update reservation set from_block = 1',
    'update reservation set spent_block = 1',
    "insert into operation (id, state) values ('x', 'signed')",
    "insert into operation (id, units) values ('x', 1)",
    "insert into burn (operation_id, message) values ('x', '0x')",
    'update operation set min_block = 0',
    "update operation set wallet_id = 'x'",
    'select raw from chain_tx_send',
    'select state from chain_tx',
    ...fees,
    ...stops,
    'select * from signed_amount',
    'insert into signed_amount (units) values (null)',
  ],
  steward_lanes: [
    ...secrets,
    ...signatures,
    'select * from wallet',
    'select * from account',
    'select * from intent',
    'select * from funding',
    'select * from api_key',
    'select * from idempotency_key',
    'select * from ledger',
    'select * from lane',
    'select * from kek',
    'select * from yield_snapshot',
    "select cancel_intent('', '')",
    "select mark_dispatched('')",
    "select mark_recovered('', now())",
    "select move_intent('', 'reopened')",
    'update intent set recover_at = now()',
    'insert into operation (id) values (null)',
    'update operation set input = null',
    "update operation set chain_key = ''",
    "update operation set wallet_id = ''",
    'delete from operation',
    'insert into burn (operation_id) values (null)',
    'update burn set source_domain = 0',
    'delete from burn',
    'insert into reservation (intent_id) values (null)',
    "update reservation set wallet_id = ''",
    "update reservation set token = ''",
    'delete from reservation',
    "update intent set status = 'completed'",
    'update intent set plan = null',
    'update funding set completed_at = now()',
    "update wallet set address = ''",
    'insert into wallet (id) values (null)',
    'insert into wallet_secret (wallet_id) values (null)',
    'insert into kek values (null)',
    'insert into lane (sender) values (null)',
    'update lane set next_nonce = 0',
    'update lane set refill_tx = null',
    'update chain_tx set opened_at = now()',
    'update chain_tx set value_wei = 0',
    'insert into chain_tx (nonce) values (null)',
    'update chain_tx set nonce = 0',
    "update chain_tx set sender = ''",
    'delete from chain_tx',
    'insert into chain_tx_send (raw) values (null)',
    "update chain_tx_send set raw = ''",
    'delete from chain_tx_send',
    'delete from chain',
    'update deployment set network = null',
    'delete from bridge_fee',
    ...stops,
    'insert into signed_amount (units) values (null)',
  ],
  steward_signer: [
    "update signature set payload = '{}'",
    'delete from signature',
    ...outcomes,
    "update operation set resource = ''",
    "select market_reserved(1, '{}', '')",
    ...answers,
    ...messages,
    ...blocks,
    'update operation set input = null',
    "update operation set chain_key = ''",
    'update reservation set released_at = now()',
    'select * from yield_snapshot',
    "select cancel_intent('', '')",
    'insert into intent (id) values (null)',
    'update intent set plan = null',
    'insert into funding (id) values (null)',
    'update funding set units = 1',
    'insert into operation (id) values (null)',
    'delete from operation',
    'insert into reservation (intent_id) values (null)',
    'update reservation set units = 1',
    'insert into wallet (id) values (null)',
    "update wallet set address = ''",
    'insert into wallet_secret (wallet_id) values (null)',
    "update wallet_secret set sealed = ''",
    "update chain_tx_send set raw = ''",
    'delete from chain_tx_send',
    'update chain_tx set nonce = 0',
    'select key_hash from api_key',
    'update kek set public_key = null',
    'update chain set booked_block = 0',
    'delete from lane',
    'select * from bridge_fee',
    ...fees,
    ...stops,
    'select * from audit_event',
  ],
}

const cases = Object.entries(forbidden).flatMap(([role, statements]) =>
  statements.map((sql) => [role as Role, sql] as const),
)

describe('grants', () => {
  test.each(cases)('%s cannot: %s', async (role, sql) => {
    expect(await isAllowed(role, sql)).toBe(false)
  })

  test.each(roles)('%s cannot make tables or roles', async (role) => {
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
    ['steward_api', 'select * from bridge_fee'],
    ['steward_worker', 'select * from bridge_fee'],
    ['steward_worker', 'select id from wallet for update'],
    ['steward_worker', 'select sender, next_nonce from lane'],
    ['steward_api', 'select sender, purpose from lane'],
    ['steward_signer', 'update lane set dry_since = null, dry_gas = null, refill_tx = null'],
    ['steward_lanes', 'select id, address from wallet'],
    ['steward_lanes', 'update bridge_fee set fast_millionths = 0'],
    ['steward_lanes', 'select address from treasury'],
    ['steward_lanes', 'select raw from chain_tx_send'],
    ['steward_lanes', 'select operation_id from signature'],
    ['steward_signer', 'select payload from signature'],
    ['steward_api', 'select scope, subject, since from stop'],
    ['steward_worker', 'select why from stop join audit_event e on e.id = begun_by'],
    ['steward_signer', 'select * from stop'],
    ['steward_signer', 'insert into signed_amount (units) values (null)'],
    ['steward_lanes', 'update chain_tx_send set sent_at = now(), sent_block = 1, refusals = 1'],
    [
      'steward_signer',
      'insert into chain_tx_send (tx_id, n, hash, raw, max_fee) values (0, 1, 1, 1, 1)',
    ],
    ['steward_signer', 'select sealed from wallet_secret'],
    ['steward_signer', 'select sealed_key from lane'],
  ] as const)('%s can: %s', async (role, sql) => {
    expect(await isAllowed(role, sql)).toBe(true)
  })
})
