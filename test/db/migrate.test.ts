import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import {
  assertNetwork,
  claimNetwork,
  connect,
  isMigrated,
  migrate,
  type Db,
} from '../../db/connection/connect.js'
import { migrations } from '../../db/migrations/index.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import {
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
} from './rows.js'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

/** Runs `action` with the URL of a database in which nothing is. */
async function inEmptyDatabase(action: (url: string) => Promise<void>): Promise<void> {
  const name = `steward_empty_${randomBytes(6).toString('hex')}`
  await database.db.raw(`create database ${name}`)
  try {
    const url = new URL(database.url)
    url.pathname = `/${name}`
    await action(url.href)
  } finally {
    await database.db.raw(`drop database ${name} with (force)`)
  }
}

async function readMigrations(url: string): Promise<{ names: string[]; complete: boolean }> {
  const db = connect(url, 1)
  try {
    const names = await db('migration').orderBy('name').pluck<string[]>('name')
    return { names, complete: await isMigrated(db) }
  } finally {
    await db.destroy()
  }
}

const all = { names: migrations.map(({ name }) => name), complete: true }

describe('migrate', () => {
  test('a second time changes nothing', async () => {
    await migrate(database.url)
    expect(await readMigrations(database.url)).toEqual(all)
  })

  test('several at once bring an empty database up to date', () =>
    inEmptyDatabase(async (url) => {
      await Promise.all([migrate(url), migrate(url), migrate(url)])
      expect(await readMigrations(url)).toEqual(all)
    }))

  test('all of it or nothing', () =>
    inEmptyDatabase(async (url) => {
      const db = connect(url, 1)
      await db.raw('create table intent (mine int)')
      await expect(migrate(url)).rejects.toThrow('already exists')
      const { rows } = await db.raw<{ rows: object[] }>(
        `select from pg_tables where schemaname = 'public' and tablename <> 'intent'`,
      )
      await db.destroy()
      expect(rows).toEqual([])
    }))
})

describe('0008_keys', () => {
  test('keys of before end 30 days after they were made, those of intents never', () =>
    inEmptyDatabase(async (url) => {
      const db = connect(url, 1)
      try {
        await migrateUntil(db, '0008_keys')
        await db('account').insert({ id: 'acct_1', name: 'test', plan: 'pro' })
        const common = { account_id: 'acct_1', key: 'one', fingerprint: '', status: 201, body: '' }
        const [wallet, cancel] = ['/v1/wallets', '/v1/intents/intent_1/cancel']
        const endpoints = [wallet, cancel, '/v1/intents', '/v1/Intents/']
        await db('idempotency_key').insert(endpoints.map((endpoint) => ({ ...common, endpoint })))
        await migrate(url)
        const days = db.raw(`extract(day from expires_at - created_at)::int as days`)
        const rows = db('idempotency_key').orderBy('endpoint').select('endpoint', days)
        expect(await rows.whereNotNull('expires_at')).toEqual([
          { endpoint: cancel, days: 30 },
          { endpoint: wallet, days: 30 },
        ])
      } finally {
        await db.destroy()
      }
    }))
})

describe('0019_carrying', () => {
  test('what was signed before is kept, apart from its operation', () =>
    inEmptyDatabase(async (url) => {
      const db = connect(url, 1)
      try {
        await migrateUntil(db, '0019_carrying')
        const wallet = await insertTestWallet(db)
        const intent = await insertTestIntent(db, wallet, 'executing')
        const payload = { gas: '1' }
        const signed = { state: 'signed', payload: JSON.stringify(payload), sequence: 2 }
        const id = await insertTestOperation(db, wallet, intent, signed)
        await insertTestOperation(db, wallet, intent)
        const funding = await insertTestFunding(db, wallet)
        await insertTestOperation(db, wallet, funding, { kind: 'fund' })
        await migrate(url)
        const kept = await db('signature').select<object[]>('operation_id', 'payload')
        expect(kept).toEqual([{ operation_id: id, payload }])
      } finally {
        await db.destroy()
      }
    }))
})

describe('0042_growth and 0043_keeping', () => {
  test('what there is is counted and summed; what was told is told still, and numbers go on', () =>
    inEmptyDatabase(async (url) => {
      const db = connect(url, 1)
      const readTold = () =>
        db('intent_event').orderBy('id').select<{ id: bigint; type: string }[]>('id', 'type', 'at')
      try {
        await migrateUntil(db, '0042_growth')
        const wallet = await insertTestWallet(db)
        const intent = await insertTestIntent(db, wallet, 'executing')
        const mined = { block_hash: '0x1', block_number: 1, success: true, units: '5' }
        await insertTestOperation(db, wallet, intent, { ...mined, state: 'final' })
        const open = { ...mined, state: 'confirmed', sequence: 2 }
        await insertTestOperation(db, wallet, intent, open)
        const told = await readTold()
        await migrate(url)
        expect(await db('account').pluck('wallets')).toEqual([1])
        const sums = await db('account_lent').select<object[]>('resource', 'units')
        expect(sums).toEqual([{ resource: 'deposit:0x01', units: '5' }])

        expect(told.length).toBeGreaterThan(0)
        expect(await readTold()).toEqual(told)
        await insertTestIntent(db, wallet, 'pending')
        const next = (await readTold()).at(-1)
        expect(next).toMatchObject({ id: (told.at(-1)?.id ?? 0n) + 1n, type: 'created' })
      } finally {
        await db.destroy()
      }
    }))
})

/** Runs all migrations before the named one. */
async function migrateUntil(db: Db, name: string): Promise<void> {
  await db.raw('create table migration (name text primary key, applied_at timestamptz)')
  const first = migrations.findIndex((migration) => migration.name === name)
  for (const migration of migrations.slice(0, first)) {
    await db.raw(migration.sql)
    await db('migration').insert({ name: migration.name })
  }
}

describe('claimNetwork', () => {
  test('binds the database to the network that comes first', () =>
    inEmptyDatabase(async (url) => {
      await migrate(url)
      const db = connect(url, 4)
      try {
        await expect(assertNetwork(db, 'devnet')).rejects.toMatchObject({ code: 'MISCONFIGURED' })
        await Promise.all([claimNetwork(db, 'devnet'), claimNetwork(db, 'devnet')])
        await assertNetwork(db, 'devnet')
        await expect(claimNetwork(db, 'testnet')).rejects.toMatchObject({
          code: 'MISCONFIGURED',
          message: 'This database belongs to devnet, the process is set to testnet.',
        })
        expect(await db('deployment').pluck('network')).toEqual(['devnet'])
      } finally {
        await db.destroy()
      }
    }))
})
