import { ServiceError } from '../../domain/errors.js'
import { selectScoped } from '../client/scope.js'
import { sliced, type Slice } from '../client/slice.js'
import { issueApiKey, keyColumns, type ApiKey } from './accounts.js'
import type { Db } from '../client/connect.js'

/** Hours for which the old key works after a roll, by default. */
const ROLL_GRACE_HOURS = 24

/** All keys of an account, oldest first. */
export async function readApiKeys(db: Db, accountId: string): Promise<ApiKey[]> {
  return db('api_key').where({ account_id: accountId }).orderBy('id').select<ApiKey[]>(keyColumns)
}

/** Keys of an account, newest first: the slice plus one. */
export async function listApiKeys(db: Db, accountId: string, slice: Slice): Promise<ApiKey[]> {
  const keys = db('api_key').where({ account_id: accountId }).select(keyColumns)
  return selectScoped<ApiKey>(db, accountId, sliced(keys, 'id', slice))
}

/** A key by id, of any account or of the given one. */
const keyWithId = (db: Db, id: string, accountId?: string) =>
  db('api_key').where(accountId === undefined ? { id } : { id, account_id: accountId })

/**
 * Revokes a key immediately. Throws NOT_FOUND for an unknown or revoked key.
 *
 * @param accountId - If given, keys of other accounts are unknown.
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
  /** Expiry of the successor. Null: never. Absent: that of the old key. */
  expiresAt?: Date | null
  /** If given, keys of other accounts are unknown. */
  accountId?: string
}

/**
 * Creates a successor with the same name and scopes. The old key works for a grace period, so that it can be replaced
 * without a gap.
 *
 * @throws {ServiceError} NOT_FOUND for an unknown, revoked or expired key.
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

const noLiveKey = (id: string) => new ServiceError('NOT_FOUND', `There is no valid key ${id}.`)
