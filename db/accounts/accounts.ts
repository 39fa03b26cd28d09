import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { limitsOf, type Tier } from '../../domain/tiers.js'
import { ServiceError } from '../../domain/errors.js'
import { recordAuditEvent, type Order } from '../auditEvents.js'
import { newId } from '../client/ids.js'
import type { Db } from '../client/connect.js'

const keyFormat = /^svc_sk_([0-9a-f]{56})([0-9a-f]{8})$/
const checksum = (hex: string) => crc32(hex).toString(16).padStart(8, '0')

/** SHA-256 of a key. Undefined for a malformed key, so that a mistyped one causes no query. */
export function keyDigest(key: string): Buffer | undefined {
  const [, secret, sum] = keyFormat.exec(key) ?? []
  if (!secret || checksum(secret) !== sum) return undefined
  return hash('sha256', key, 'buffer')
}

/** True for the form of a key. Its checksum may be wrong. */
export const isKeyShaped = (key: string): boolean => keyFormat.test(key)

/** Creates an account with the limits of its plan. */
export async function createAccount(db: Db, account: { name: string; plan: Tier }) {
  const id = newId('acct_')
  const limits = limitsOf[account.plan]
  await db('account').insert({
    id,
    ...account,
    rpm: limits.requestsPerMinute,
    max_wallets: limits.maxWallets ?? null,
    monthly_credits: limits.creditsPerMonth,
  })
  return { id }
}

export type Scope = 'read' | 'write'
export type KeyOptions = { scopes?: Scope[]; expiresAt?: Date }
/** Name, scopes and expiry of a new key. */
type NewKey = KeyOptions & { name: string }

/** As `issueApiKey`, but returns the key only. */
export async function createApiKey(db: Db, accountId: string, options: NewKey): Promise<string> {
  const { key } = await issueApiKey(db, accountId, options)
  return key
}

/**
 * Creates an API key: `svc_sk_`, 56 random hex characters and their CRC-32.
 *
 * @returns The key, which is not stored and cannot be shown again, and its stored row.
 */
export async function issueApiKey(
  db: Db,
  accountId: string,
  { name, scopes = ['read', 'write'], expiresAt }: NewKey,
): Promise<{ key: string; stored: ApiKey }> {
  const secret = randomBytes(28).toString('hex')
  const key = `svc_sk_${secret}${checksum(secret)}`
  const row = {
    id: newId('key_'),
    account_id: accountId,
    name,
    key_hash: keyDigest(key),
    prefix: key.slice(0, 'svc_sk_'.length + 4),
    last_four: key.slice(-4),
    scopes,
    expires_at: expiresAt ?? null,
  }
  const [stored] = await db('api_key')
    .insert(row)
    .returning<ApiKey[]>(keyColumns)
    .catch((error: unknown) => {
      throw unknownAccount(error, accountId)
    })
  if (!stored) throw new Error('The key was not stored.')
  return { key, stored }
}

/** True for a known key that is neither revoked nor expired. */
export async function isLiveKey(db: Db, key: string): Promise<boolean> {
  const digest = keyDigest(key)
  if (!digest) return false
  const live = await db('api_key')
    .where({ key_hash: digest })
    .whereNull('revoked_at')
    .whereRaw('(expires_at is null or expires_at > clock_timestamp())')
    .select<{ id: string }[]>('id')
  return live.length > 0
}

/** The public fields of a key. */
export type ApiKey = {
  id: string
  name: string
  prefix: string
  lastFour: string
  scopes: Scope[]
  createdAt: Date
  lastUsedAt: Date | null
  expiresAt: Date | null
  revokedAt: Date | null
}

export const keyColumns = [
  'id',
  'name',
  'prefix',
  'last_four as lastFour',
  'scopes',
  'created_at as createdAt',
  'last_used_at as lastUsedAt',
  'expires_at as expiresAt',
  'revoked_at as revokedAt',
]

/** `reference` makes the grant idempotent, such as an invoice number. */
type Grant = { credits: number; reference?: string | undefined }

/**
 * Adds credits that an operator sells or grants. They never lapse.
 *
 * @throws {ServiceError} NOT_FOUND for an unknown account, INVALID_REQUEST for a reference that was used.
 */
export async function grantCredits(
  db: Db,
  accountId: string,
  { credits, reference = newId('op_') }: Grant,
): Promise<void> {
  try {
    await db.transaction(async (trx) => {
      const bought = { account_id: accountId, request_id: reference, reason: 'purchase' }
      await trx('ledger').insert({ ...bought, delta: credits })
      await trx('account')
        .where({ id: accountId })
        .increment({ purchased: credits, total_purchased: credits })
    })
  } catch (error) {
    if (!isUniqueViolation(error)) throw unknownAccount(error, accountId)
    const message = `The reference ${reference} was used before. Nothing was granted again.`
    throw new ServiceError('INVALID_REQUEST', message)
  }
}

const isUniqueViolation = (error: unknown) => (error as { code?: string }).code === '23505'

/** Converts a foreign key violation to NOT_FOUND. Returns other errors unchanged. */
function unknownAccount(error: unknown, id: string): unknown {
  return (error as { code?: string }).code === '23503' ? noAccount(id) : error
}

export const noAccount = (id: string) => new ServiceError('NOT_FOUND', `There is no account ${id}.`)

export type AccountRow = {
  id: string
  name: string
  plan: Tier
  requestsPerMinute: number
  /** Null: unlimited. */
  maxWallets: number | null
  monthlyCredits: bigint
  createdAt: Date
  /** Null: not suspended. */
  suspendedAt: Date | null
}

const accountColumns = [
  'id',
  'name',
  'plan',
  'rpm as requestsPerMinute',
  'max_wallets as maxWallets',
  'monthly_credits as monthlyCredits',
  'created_at as createdAt',
  'suspended_at as suspendedAt',
]

/** All accounts, oldest first. */
export async function readAccounts(db: Db): Promise<AccountRow[]> {
  return db('account').orderBy('id').select<AccountRow[]>(accountColumns)
}

/** Throws NOT_FOUND for an unknown account. */
export async function getAccount(db: Db, id: string): Promise<AccountRow> {
  const row = await db('account').where({ id }).first<AccountRow | undefined>(accountColumns)
  if (!row) throw noAccount(id)
  return row
}

/**
 * Suspends an account: its keys are rejected from the next request on. Its running intents continue.
 *
 * @throws {ServiceError} NOT_FOUND for an unknown account, INVALID_REQUEST when it is already suspended.
 */
export async function suspendAccount(db: Db, id: string, order: Order): Promise<void> {
  await db.transaction(async (trx) => {
    const suspended_at = trx.raw('clock_timestamp()')
    const rows = trx('account').where({ id }).whereNull('suspended_at')
    if ((await rows.update({ suspended_at })) !== 1) {
      await getAccount(trx, id)
      throw new ServiceError('INVALID_REQUEST', `The account ${id} is already suspended.`)
    }
    await recordAuditEvent(trx, { action: 'account suspend', subject: id }, order)
  })
}

/**
 * Ends the suspension of an account.
 *
 * @throws {ServiceError} NOT_FOUND for an unknown account, INVALID_REQUEST when it is not suspended.
 */
export async function resumeAccount(db: Db, id: string, order: Order): Promise<void> {
  await db.transaction(async (trx) => {
    const rows = trx('account').where({ id }).whereNotNull('suspended_at')
    if ((await rows.update({ suspended_at: null })) !== 1) {
      await getAccount(trx, id)
      throw new ServiceError('INVALID_REQUEST', `The account ${id} is not suspended.`)
    }
    await recordAuditEvent(trx, { action: 'account resume', subject: id }, order)
  })
}
