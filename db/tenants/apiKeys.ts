import { ServiceError } from '../../domain/errors.js'
import { selectScoped } from '../connection/scope.js'
import { sliced, type Slice } from '../connection/slice.js'
import { issueApiKey, keyColumns, type ApiKey } from './accounts.js'
import type { Db } from '../connection/connect.js'

/** How long the old key still works after a roll, unless the operator says otherwise. */
const ROLL_GRACE_HOURS = 24

/** All keys of an account, oldest first. */
export async function readApiKeys(db: Db, accountId: string): Promise<ApiKey[]> {
  return db('api_key').where({ account_id: accountId }).orderBy('id').select<ApiKey[]>(keyColumns)
}

/** Some of the keys of an account, newest first, and one more. */
export async function listApiKeys(db: Db, accountId: string, slice: Slice): Promise<ApiKey[]> {
  const keys = db('api_key').where({ account_id: accountId }).select(keyColumns)
  return selectScoped<ApiKey>(db, accountId, sliced(keys, 'id', slice))
}

/** A key of whichever account, or of this one only. */
const keyWithId = (db: Db, id: string, accountId?: string) =>
  db('api_key').where(accountId === undefined ? { id } : { id, account_id: accountId })

/**
 * Ends a key at once; NOT_FOUND for a key that is unknown or revoked already.
 *
 * @param accountId - When given, a key of another account is unknown.
 */
export async function revokeApiKey(db: Db, id: string, accountId?: string): Promise<void> {
  const changed = await keyWithId(db, id, accountId)
    .whereNull('revoked_at')
    .update({ revoked_at: db.raw('clock_timestamp()') })
  if (changed !== 1) throw noLiveKey(id)
}

type Rolled = Pick<ApiKey, 'name' | 'scopes' | 'expiresAt'> & { accountId: string }

type RollOptions = {
  graceHours?: number
  /** When the successor ends; null: never; absent: when the old key would have. */
  expiresAt?: Date | null
  /** When given, a key of another account is unknown. */
  accountId?: string
}

/**
 * Makes a successor with the same name and scopes. The old key goes on for a while, so that it can be replaced
 * without a gap.
 *
 * @throws {ServiceError} NOT_FOUND for a key that is unknown, revoked or expired.
 */
export async function rollApiKey(
  db: Db,
  id: string,
  { graceHours = ROLL_GRACE_HOURS, ...options }: RollOptions = {},
): Promise<{ key: string; stored: ApiKey; expiresAt: Date | null; oldEndsAt: Date }> {
  return db.transaction(async (trx) => {
    const [old] = await keyWithId(trx, id, options.accountId)
      .whereNull('revoked_at')
      .whereRaw('(expires_at is null or expires_at > clock_timestamp())')
      .forUpdate()
      .select<Rolled[]>(...['account_id as accountId', 'name', 'scopes', 'expires_at as expiresAt'])
    if (!old) throw noLiveKey(id)
    const grace = trx.raw(`least(expires_at, clock_timestamp() + ? * interval '1 hour')`, [
      graceHours,
    ])
    const [ended] = await trx('api_key')
      .where({ id })
      .update({ expires_at: grace })
      .returning<{ oldEndsAt: Date }[]>('expires_at as oldEndsAt')
    if (!ended) throw noLiveKey(id)
    const { expiresAt = old.expiresAt } = options
    const { accountId, name, scopes } = old
    const { key, stored } = await issueApiKey(trx, accountId, {
      name,
      scopes,
      ...(expiresAt && { expiresAt }),
    })
    return { key, stored, expiresAt, ...ended }
  })
}

const noLiveKey = (id: string) => new ServiceError('NOT_FOUND', `There is no live key ${id}.`)
