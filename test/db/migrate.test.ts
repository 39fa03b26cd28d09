import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { assertNetwork, claimNetwork, connect, isMigrated, migrate } from '../../db/connect.js'
import { migrations } from '../../db/migrations/index.js'
import { createDatabase, type TestDatabase } from '../support/database.js'

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
