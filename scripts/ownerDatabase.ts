import { readFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { connect, type Db } from '../db/connection/connect.js'
import { isMigrated } from '../db/connection/migrate.js'
import { ServiceError } from '../domain/errors.js'

/** The owner's URL from the environment, else the one of the stack that `npm start` runs. */
function findUrl({ DATABASE_URL, STEWARD_HOME }: NodeJS.ProcessEnv): string {
  if (DATABASE_URL) {
    if (URL.canParse(DATABASE_URL) && /^postgres(ql)?:/.test(DATABASE_URL)) return DATABASE_URL
    throw misconfigured(
      'DATABASE_URL is not an address like postgres://owner:password@host:5432/name.',
    )
  }
  const file = path.resolve(STEWARD_HOME || '.steward', 'dev.json')
  try {
    const { databaseUrl } = JSON.parse(readFileSync(file, 'utf8')) as { databaseUrl: string }
    console.error(`Database of npm start: ${placeOf(databaseUrl)}`)
    return databaseUrl
  } catch {
    throw misconfigured('DATABASE_URL is not set, and no npm start runs here.')
  }
}

/** A database's URL without its user and password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return host + pathname
}

const NOT_MIGRATED = 'is not migrated, or not to this version: run npm run migrate'
const NOT_OWNED = 'belongs to another role: use that of its owner'
/** @see https://www.postgresql.org/docs/current/errcodes-appendix.html */
const refusals: Record<string, string> = {
  '28000': 'refuses this login',
  '28P01': 'refuses the password',
  '3D000': 'does not exist',
  '42501': NOT_OWNED,
  '42P01': NOT_MIGRATED,
}

const misconfigured = (message: string) => new ServiceError('MISCONFIGURED', message)
const fault = (place: string, what: string) => misconfigured(`The database ${place} ${what}.`)

/** Not the error's own words: they may hold the statement and its values. */
function explain(error: unknown, place: string): unknown {
  if (error instanceof ServiceError) return error
  if (error instanceof pg.DatabaseError) {
    const { code = 'without a code' } = error
    return fault(place, refusals[code] ?? `refuses with the error ${code}`)
  }
  const { code, message, name } = error as Error & { code?: string }
  const isSilent = code !== undefined || name === 'KnexTimeoutError'
  if (!isSilent && !/timeout expired|Connection terminated/.test(message)) return error
  return fault(place, `does not answer (${code ?? 'in time'})`)
}

/**
 * Runs an operator's work on the database of `DATABASE_URL`, else on that of a running `npm start`.
 *
 * @throws {ServiceError} MISCONFIGURED, one line without a secret, when the database is away, of another
 *   version or not the role's own.
 */
export async function useOwnerDatabase(
  env: NodeJS.ProcessEnv,
  work: (db: Db) => Promise<void>,
): Promise<void> {
  const url = findUrl(env)
  const place = placeOf(url)
  const db = connect(url, 1)
  try {
    if (!(await isMigrated(db))) throw fault(place, NOT_MIGRATED)
    // Another role would see no accounts and be told that there are none.
    const { rows } = await db.raw<{ rows: { isOwner: boolean }[] }>(
      `select has_table_privilege('account', 'insert') as "isOwner"`,
    )
    if (!rows[0]?.isOwner) throw fault(place, NOT_OWNED)
    await work(db)
  } catch (error) {
    throw explain(error, place)
  } finally {
    await db.destroy()
  }
}
