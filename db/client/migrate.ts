import { fileURLToPath } from 'node:url'
import type { Knex } from 'knex'
import Postgrator from 'postgrator'
import { connectToMigrate, type Db } from './connect.js'
import { lockName } from './locks.js'

/** Each service has its own database role. */
const services = ['api', 'worker', 'relayer', 'signer'] as const

/** Login passwords of the services' roles. */
export type RolePasswords = Record<(typeof services)[number], string>

/** Schema files come first, then migrations. The number at the start of a file name is its version. */
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
 * Brings the schema up to date, in one transaction. Concurrent calls are safe.
 *
 * @param url - A role that may create roles and tables: the owner of the database.
 * @param passwords - Passwords to set for the services' roles.
 * @throws {Error} when an applied file has changed.
 */
export async function migrate(url: string, passwords?: RolePasswords): Promise<void> {
  const db = connectToMigrate(url)
  try {
    await db.transaction(async (trx) => {
      await lockName(trx, 'migration')
      await createMigrator(trx).migrate()
      await restrictLogins(trx)
      if (passwords) await setPasswords(trx, passwords)
    })
  } finally {
    await db.destroy()
  }
}

/**
 * Allows only the owner and the services' roles to connect. Each migration does it again, because neither a copy nor a
 * restored backup of a database keeps these privileges.
 */
async function restrictLogins(trx: Knex.Transaction): Promise<void> {
  const roles = services.map((service) => `steward_${service}`).join(', ')
  await trx.raw(`do $$ begin
    execute format('revoke connect on database %I from public', current_database());
    execute format('grant connect on database %I to ${roles}', current_database());
  end $$`)
}

async function setPasswords(trx: Knex.Transaction, passwords: RolePasswords): Promise<void> {
  for (const service of services) {
    const { rows } = await trx.raw<{ rows: { text: string }[] }>(
      `select format('alter role %I password %L', ?::text, ?::text) as text`,
      [`steward_${service}`, passwords[service]],
    )
    await trx.raw(rows[0]?.text ?? '')
  }
}

let latestVersion: Promise<number> | undefined

/** True when all files of this version of the code are applied. */
export async function isMigrated(db: Db): Promise<boolean> {
  const migrator = createMigrator(db)
  latestVersion ??= migrator.getMaxVersion()
  return (await migrator.getDatabaseVersion()) >= (await latestVersion)
}
