import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { assertNetwork, claimNetwork, connect } from '../../db/client/connect.js'
import { isMigrated, migrate } from '../../db/client/migrate.js'
import { createDatabase, type TestDatabase } from '../support/database.js'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

/** Runs `action` with the URL of an empty database. */
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

async function readVersions(url: string): Promise<{ names: string[]; complete: boolean }> {
  const db = connect(url, 1)
  try {
    const applied = db('schema_version').where('version', '>', 0).orderBy('version')
    return { names: await applied.pluck<string[]>('name'), complete: await isMigrated(db) }
  } finally {
    await db.destroy()
  }
}

const names = ['schema', 'migrations']
  .flatMap((folder) => readdirSync(`db/${folder}`).sort())
  .filter((file) => file.endsWith('.sql'))
  .map((file) => file.split('.')[2] ?? '')
const all = { names, complete: true }

describe('migrate', () => {
  test('a second run changes nothing', async () => {
    await migrate(database.url)
    expect(await readVersions(database.url)).toEqual(all)
  })

  test('concurrent runs bring an empty database up to date', () =>
    inEmptyDatabase(async (url) => {
      await Promise.all([migrate(url), migrate(url), migrate(url)])
      expect(await readVersions(url)).toEqual(all)
    }))

  test('applies all files or none', () =>
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

  test('error: an applied file has changed', () =>
    inEmptyDatabase(async (url) => {
      await migrate(url)
      const db = connect(url, 1)
      await db('schema_version').where('version', 1).update('md5', 'of another text')
      await db.destroy()
      await expect(migrate(url)).rejects.toThrow('MD5 checksum failed for migration [1]')
    }))
})

describe('who may connect', () => {
  /** Connects by a new login with these attributes, and returns the error code. */
  async function tryLogin(url: string, attributes: string): Promise<string | undefined> {
    const [role, password] = [`steward_try_${randomBytes(6).toString('hex')}`, 'a password']
    await database.db.raw(`create role ${role} login password '${password}' ${attributes}`)
    const own = Object.assign(new URL(url), { username: role, password })
    const db = connect(own.href, 1)
    try {
      await db.raw('select 1')
      return undefined
    } catch (error) {
      return (error as { code?: string }).code
    } finally {
      await db.destroy()
      await database.db.raw(`drop role ${role}`)
    }
  }

  test('each service and the owner; no other login, such as that of Temporal', () =>
    inEmptyDatabase(async (url) => {
      await migrate(url)
      for (const service of ['api', 'worker', 'relayer', 'signer']) {
        expect(await tryLogin(url, `in role steward_${service}`)).toBeUndefined()
      }
      // As deploy/postgres creates it.
      expect(await tryLogin(url, 'createdb')).toBe('42501')
    }))

  test('a restored database is closed again by the next migration', () =>
    inEmptyDatabase(async (url) => {
      await migrate(url)
      const name = new URL(url).pathname.slice(1)
      await database.db.raw(`grant connect on database ${name} to public`)
      expect(await tryLogin(url, '')).toBeUndefined()
      await migrate(url)
      expect(await tryLogin(url, '')).toBe('42501')
    }))
})

describe('the schema', () => {
  test('references only existing objects in plain SQL functions', async () => {
    await database.db.transaction(async (trx) => {
      const { rows } = await trx.raw<{ rows: { definition: string }[] }>(
        `select pg_get_functiondef(p.oid) as definition from pg_proc p join pg_language l on l.oid = p.prolang
         where p.pronamespace = 'public'::regnamespace and l.lanname = 'sql'`,
      )
      expect(rows.length).toBeGreaterThan(0)
      for (const { definition } of rows) await trx.raw(definition.replaceAll('?', '\\?'))
    })
  })
})

describe('claimNetwork', () => {
  test('binds the database to the first network', () =>
    inEmptyDatabase(async (url) => {
      await migrate(url)
      const db = connect(url, 4)
      try {
        await expect(assertNetwork(db, 'devnet')).rejects.toMatchObject({ code: 'MISCONFIGURED' })
        await Promise.all([claimNetwork(db, 'devnet'), claimNetwork(db, 'devnet')])
        await assertNetwork(db, 'devnet')
        await expect(claimNetwork(db, 'testnet')).rejects.toMatchObject({
          code: 'MISCONFIGURED',
          message:
            'This database belongs to devnet, but the process is configured for testnet. Correct NETWORK or DATABASE_URL.',
        })
        expect(await db('deployment').pluck('network')).toEqual(['devnet'])
      } finally {
        await db.destroy()
      }
    }))
})
