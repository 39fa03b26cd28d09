import { fileURLToPath } from 'node:url'
import type { Knex } from 'knex'
import Postgrator from 'postgrator'
import { connectToMigrate, type Db } from './connect.js'
import { lockName } from './locks.js'

/** Each service has a role of its own. */
const services = ['api', 'worker', 'lanes', 'signer'] as const

/** Login passwords of the services' roles. */
export type Passwords = Record<(typeof services)[number], string>

/** The schema comes first, then what has changed since: the number at the start of a file's name is its version. */
const files = fileURLToPath(new URL('../{schema,migrations}/*.sql', import.meta.url))

/** Applied files are recorded in `schema_version` with their checksums. */
const createMigrator = (db: Db) =>
  new Postgrator({
    driver: 'pg',
    migrationPattern: files,
    schemaTable: 'schema_version',
    newline: 'LF',
    // knex reads a bare question mark as a binding.
    execQuery: (sql) => db.raw(sql.replaceAll('?', '\\?')),
  })

/**
 * Brings the schema up to date: all of it or nothing. Several processes may do so at once.
 *
 * @param url - A role that may create roles and tables: the owner of the database.
 * @param passwords - When given, the services' roles get them.
 * @throws {Error} when a file that was applied has changed since.
 */
export async function migrate(url: string, passwords?: Passwords): Promise<void> {
  const db = connectToMigrate(url)
  try {
    await db.transaction(async (trx) => {
      await lockName(trx, 'migration')
      await createMigrator(trx).migrate()
      if (passwords) await setPasswords(trx, passwords)
    })
  } finally {
    await db.destroy()
  }
}

async function setPasswords(trx: Knex.Transaction, passwords: Passwords): Promise<void> {
  for (const service of services) {
    const { rows } = await trx.raw<{ rows: { text: string }[] }>(
      `select format('alter role %I password %L', ?::text, ?::text) as text`,
      [`steward_${service}`, passwords[service]],
    )
    await trx.raw(rows[0]?.text ?? '')
  }
}

let latestVersion: Promise<number> | undefined

/** True when every file that this code knows has been applied. */
export async function isMigrated(db: Db): Promise<boolean> {
  const migrator = createMigrator(db)
  latestVersion ??= migrator.getMaxVersion()
  return (await migrator.getDatabaseVersion()) >= (await latestVersion)
}
