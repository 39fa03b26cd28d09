import { readFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { connect, type Db } from '../db/client/connect.js'
import { isMigrated } from '../db/client/migrate.js'
import { ServiceError } from '../domain/errors.js'

/** The owner's URL from the environment, else that of a running `npm start`. */
function findUrl({ DATABASE_URL, STEWARD_HOME }: NodeJS.ProcessEnv): string {
  if (DATABASE_URL) {
    if (URL.canParse(DATABASE_URL) && /^postgres(ql)?:/.test(DATABASE_URL)) return DATABASE_URL
    throw misconfigured(
      'DATABASE_URL must be an address such as postgres://owner:password@host:5432/name.',
    )
  }
  const file = path.resolve(STEWARD_HOME || '.steward', 'dev.json')
  try {
    const { databaseUrl } = JSON.parse(readFileSync(file, 'utf8')) as { databaseUrl: string }
    console.error(`Database of npm start: ${placeOf(databaseUrl)}`)
    return databaseUrl
  } catch {
    throw misconfigured(
      'DATABASE_URL is not set and npm start is not running. Set DATABASE_URL, or run npm start.',
    )
  }
}

/** A database URL without user and password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return host + pathname
}

const NOT_MIGRATED = 'is not migrated to this version. Run npm run migrate'
const NOT_OWNED = 'belongs to another role. Use the role of its owner'
/** @see https://www.postgresql.org/docs/current/errcodes-appendix.html */
const refusals: Record<string, string> = {
  '28000': 'rejects this login',
  '28P01': 'rejects the password',
  '3D000': 'does not exist',
  '42501': NOT_OWNED,
  '42P01': NOT_MIGRATED,
}

const misconfigured = (message: string) => new ServiceError('MISCONFIGURED', message)
const fault = (place: string, what: string) => misconfigured(`The database ${place} ${what}.`)

/** Replaces the message of a database error, which may contain the statement and its values. */
function explain(error: unknown, place: string): unknown {
  if (error instanceof ServiceError) return error
  if (error instanceof pg.DatabaseError) {
    const { code = 'without a code' } = error
    return fault(place, refusals[code] ?? `returned the error ${code}`)
  }
  const { code, message, name } = error as Error & { code?: string }
  const isSilent = code !== undefined || name === 'KnexTimeoutError'
  if (!isSilent && !/timeout expired|Connection terminated/.test(message)) return error
  return fault(place, `does not answer (${code ?? 'timeout'})`)
}

/**
 * Runs a command on the database of `DATABASE_URL`, else on that of a running `npm start`.
 *
 * @throws {ServiceError} MISCONFIGURED, one line without secrets, when the database does not answer, has another schema
 *   version or belongs to another role.
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
    // Row-level security would hide all accounts from another role.
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
