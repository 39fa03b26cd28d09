import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../db/client/connect.js'
import { pauseWork, resumeWork } from '../../db/pauses.js'
import { markSent } from '../../operations/signing/replacing.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { roles, type DatabaseRole } from './forbidden.js'
import {
  inBlock,
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from './rows.js'

const stranger = `0x${'66'.repeat(20)}`
const sender = `0x${'55'.repeat(20)}`

let database: TestDatabase
const pools = new Map<DatabaseRole, Db>()
let wallet: TestWallet
/** Intents whose only operation is queued, and signed. */
let queued: string
let signed: string
let fundingId: string
let nonce = 0

beforeAll(async () => {
  database = await createDatabase()
  const { db } = database
  for (const role of roles) pools.set(role, connect(database.urlAs(role), 2))
  await db('kek').insert({ id: 'kek', public_key: Buffer.from('key'), active: true })
  const keys = { kek_id: 'kek', sealed_key: Buffer.from('sealed') }
  await db('sender').insert({ chain_id: 421_614, sender, ...keys })
})
beforeEach(async () => {
  const { db } = database
  wallet = await insertTestWallet(db)
  queued = await insertTestIntent(db, wallet, 'executing')
  await insertTestOperation(db, wallet, queued)
  signed = await insertTestIntent(db, wallet, 'executing')
  await insertSigned(signed)
  fundingId = await insertTestFunding(db, wallet)
})
afterAll(async () => {
  await Promise.all([...pools.values()].map((pool) => pool.destroy()))
  await database?.drop()
})

/** A stored transaction that was never given to a node, its operation, and its signature. */
async function insertSigned(intentId: string): Promise<{ id: string; hash: string }> {
  const { db } = database
  const hash = `0x${(++nonce).toString(16).padStart(64, '0')}`
  const [tx] = await db('chain_tx')
    .insert({ chain_id: 421_614, sender, nonce })
    .returning<{ id: bigint }[]>('id')
  const tx_id = tx?.id.toString() ?? ''
  await db('chain_tx_send').insert({ tx_id, n: 1, hash, raw: '0x', max_fee: 1 })
  const id = await insertTestOperation(db, wallet, intentId, { state: 'signed', tx_id })
  await db('signature').insert({ operation_id: id, payload: '{}' })
  return { id, hash }
}

const mined = `success = true, tx_hash = '0x', block_number = 1, block_hash = '0x', log_index = 0, units = 1000000`

type Attempt = { what: string; sql: () => string; by?: DatabaseRole[] }

/** What a compromised process could try with the login of its role. */
const attempts: Record<string, Attempt[]> = {
  'complete without evidence': [
    ...['mined', 'confirmed', 'final'].flatMap((state): Attempt[] => [
      {
        what: `set a queued operation to ${state}`,
        sql: () =>
          `update operation set state = '${state}', ${mined} where intent_id = '${queued}'`,
      },
      {
        what: `set an operation that was never sent to ${state}`,
        sql: () =>
          `update operation set state = '${state}', ${mined} where intent_id = '${signed}'`,
      },
      {
        what: `insert an operation that is ${state}`,
        sql: () => `insert into operation
          (id, intent_id, sequence, kind, account_id, wallet_id, chain_id, min_block, state, block_hash)
          values ('op', '${queued}', 2, 'deposit', '${wallet.accountId}', '${wallet.id}', 1, 0, '${state}', '0x')`,
      },
    ]),
    {
      what: 'claim that the key is used',
      sql: () => `update operation set spent_since = 1 where intent_id = '${queued}'`,
      // The signer reads the keys.
      by: ['steward_api', 'steward_worker', 'steward_relayer'],
    },
    { what: 'complete the intent', sql: () => `select complete_intent('${queued}')` },
    { what: 'move the intent', sql: () => `select transition_intent('${queued}', 'completed')` },
    { what: 'advance the intent', sql: () => `select advance_intent('${queued}', 'completed')` },
    {
      what: 'write the status',
      sql: () =>
        `update intent set status = 'completed', completed_at = now() where id = '${queued}'`,
    },
    {
      what: 'complete the funding',
      sql: () => `update funding set completed_at = now() where id = '${fundingId}'`,
    },
    {
      what: 'emit the event',
      sql: () => `insert into intent_event (intent_id, account_id, type, data)
        values ('${queued}', '${wallet.accountId}', 'completed', '{}')`,
    },
  ],
  'under-execute': [
    {
      what: 'change the plan',
      sql: () =>
        `update intent set plan = replace(plan::text, '"amount":"1"', '"amount":"0.000001"')::json`,
    },
    {
      what: 'plan again',
      sql: () => `select advance_intent('${queued}', 'planned', '{"steps":[]}')`,
    },
    { what: 'change the request', sql: () => `update intent set units = 1 where id = '${queued}'` },
    {
      what: 'write the amount',
      sql: () => `update operation set input_units = 1 where intent_id = '${queued}'`,
    },
    {
      what: 'write the result',
      sql: () => `update operation set units = 1, success = true where intent_id = '${queued}'`,
      // It reads the logs. The signer reads what a later step spends from the chain.
      by: ['steward_api', 'steward_worker', 'steward_signer'],
    },
    {
      what: 'change the funding',
      sql: () => `update funding set units = 1 where id = '${fundingId}'`,
    },
  ],
  'pay a foreign address': [
    {
      what: 'change the address of the wallet',
      sql: () => `update wallet set address = '${stranger}' where id = '${wallet.id}'`,
    },
    {
      what: 'give the operation to another wallet',
      sql: () => `update operation set wallet_id = 'other' where intent_id = '${queued}'`,
    },
    {
      what: 'give the intent to another wallet',
      sql: () => `update intent set wallet_id = 'other' where id = '${queued}'`,
    },
    {
      what: 'replace the signed bytes',
      sql: () => `update chain_tx_send set raw = '0x66'`,
    },
    { what: 'replace the signature', sql: () => `update signature set payload = '{"gas":"1"}'` },
    { what: 'change the treasury', sql: () => `update treasury set address = '${stranger}'` },
  ],
  'erase or forge the trail': [
    { what: 'delete events', sql: () => 'delete from intent_event' },
    { what: 'change events', sql: () => `update intent_event set type = 'failed'` },
    { what: 'delete operations', sql: () => `delete from operation` },
    { what: 'delete intents', sql: () => 'delete from intent' },
    { what: 'delete sends', sql: () => 'delete from chain_tx_send' },
    { what: 'delete transactions', sql: () => 'delete from chain_tx' },
    { what: 'delete the audit log', sql: () => 'delete from audit_event' },
    { what: 'write the audit log', sql: () => `update audit_event set why = ''` },
    { what: 'truncate events', sql: () => 'truncate intent_event' },
    { what: 'drop events', sql: () => `select drop_partitions('intent_event', 0)` },
    { what: 'change the ledger', sql: () => 'update ledger set delta = 0' },
  ],
}

const cells = Object.entries(attempts).flatMap(([goal, list]) =>
  list.flatMap(({ what, sql, by = roles }) =>
    by.map((role) => [role, goal, what, sql] as [DatabaseRole, string, string, () => string]),
  ),
)

/** Everything that the attempts aim at. */
async function readTrail(): Promise<string> {
  const tables = ['intent', 'funding', 'operation', 'wallet', 'treasury', 'signature', 'chain_tx']
  const trail = ['chain_tx_send', 'intent_event', 'audit_event', 'ledger']
  const all = await Promise.all(
    [...tables, ...trail].map((table) =>
      database.db.raw<{ rows: unknown[] }>(`select * from ${table} order by ${table}::text`),
    ),
  )
  return JSON.stringify(
    all.map(({ rows }) => rows),
    (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  )
}

/** Syntax error, unknown column, function, table or type: such an attempt would prove nothing. */
const misspelled = ['42601', '42703', '42883', '42P01', '42704']

describe('the database login of each process', () => {
  test.each(cells)('%s cannot %s: %s', async (role, _goal, _what, sql) => {
    const before = await readTrail()
    const asRole = pools.get(role) as Db
    // The API sees the rows of the account that it names.
    await asRole
      .transaction(async (trx) => {
        await trx.raw(`select set_config('app.account', ?, true)`, [wallet.accountId])
        await trx.raw(sql())
      })
      .catch(({ code }: { code?: string }) => expect(misspelled).not.toContain(code))
    expect(await readTrail()).toBe(before)
  })
})

/** Locks that a process can try to hold. The names are those of its advisory locks, and those of the tables. */
const names = ['treasury/421614', 'signed amounts', 'migration', 'pauses', 'pause']
const tables = [
  'pause',
  'audit_event',
  'account',
  'wallet',
  'chain',
  'operation',
  'chain_tx',
  'sender',
]
const locks = [
  ...names.flatMap((name) => [
    `select pg_advisory_xact_lock(hashtextextended('${name}', 0))`,
    `select pg_advisory_xact_lock(hashtext('${name}'))`,
  ]),
  ...tables.flatMap((table) => [
    `lock table ${table} in access exclusive mode`,
    `lock table ${table} in share mode`,
    `select * from ${table} for update`,
  ]),
  'select id from wallet for update',
  'select id from account for update',
]

describe('a pause', () => {
  test.each(roles)('is committed while %s holds every lock that it may take', async (role) => {
    const asRole = pools.get(role) as Db
    const holding = await asRole.transaction()
    for (const sql of locks) {
      await holding.transaction((trx) => trx.raw(sql)).catch(() => undefined)
    }
    const order = { by: 'operator', why: 'test' }
    const target = { scope: 'wallet', subject: wallet.id } as const
    await pauseWork(database.db, target, order)
    await resumeWork(database.db, target, order)
    await holding.rollback()
  })
})

describe('a login that is none of the processes, such as that of Temporal', () => {
  test('has no right on a table or a function', async () => {
    const { rows } = await database.db.raw<{ rows: { name: string }[] }>(`
      select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'S')
        and exists (select from aclexplode(c.relacl) a where a.grantee = 0)
      union all
      select p.proname from pg_proc p
      where p.pronamespace = 'public'::regnamespace
        and (p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0))`)
    expect(rows).toEqual([])
  })
})

describe('an operation with evidence', () => {
  const relayer = () => pools.get('steward_relayer') as Db
  const confirm = (id: string) =>
    relayer()('operation')
      .where({ id })
      .update({ state: 'confirmed', success: true, ...inBlock })

  test('is confirmed once its bytes were given to a node', async () => {
    const intentId = await insertTestIntent(database.db, wallet, 'executing')
    const { id, hash } = await insertSigned(intentId)
    await expect(confirm(id)).rejects.toMatchObject({ code: '42501' })
    await markSent(relayer(), [hash])
    expect(await confirm(id)).toBe(1)
  })

  test('is confirmed once the signer has read its key as used', async () => {
    const { db } = database
    const intentId = await insertTestIntent(db, wallet, 'executing')
    const id = await insertTestOperation(db, wallet, intentId)
    await expect(confirm(id)).rejects.toMatchObject({ code: '42501' })
    const signer = pools.get('steward_signer') as Db
    await signer('operation').where({ id }).update({ spent_since: 1 })
    expect(await confirm(id)).toBe(1)
  })
})
