import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { newId } from './ids.js'
import type { Db } from './connect.js'

export type Plan = 'free' | 'pro' | 'enterprise'
export type Account = { id: string; plan: Plan }

const KEY_FORMAT = /^svc_sk_([0-9a-f]{56})([0-9a-f]{8})$/

const checksum = (hex: string) => crc32(hex).toString(16).padStart(8, '0')
const digest = (key: string) => createHash('sha256').update(key).digest()

export async function createAccount(db: Db, account: { name: string; plan: Plan }) {
  const id = newId('acct_')
  await db('account').insert({ id, ...account })
  return { id }
}

/**
 * Makes an API key: `svc_sk_`, 56 random hex characters and their CRC-32, so that a mistyped key is
 * recognised without a look-up.
 *
 * @returns The key. It is not stored and cannot be shown again.
 */
export async function createApiKey(db: Db, accountId: string, name: string): Promise<string> {
  const secret = randomBytes(28).toString('hex')
  const key = `svc_sk_${secret}${checksum(secret)}`
  await db('api_key').insert({
    id: newId('key_'),
    account_id: accountId,
    name,
    key_hash: digest(key),
    last_four: key.slice(-4),
  })
  return key
}

/** The account of a live key; undefined for a malformed, unknown, revoked or expired one. */
export async function findAccountByKey(db: Db, key: string): Promise<Account | undefined> {
  const [, secret, sum] = KEY_FORMAT.exec(key) ?? []
  if (!secret || checksum(secret) !== sum) return undefined
  return db('api_key as k')
    .join('account as a', 'a.id', 'k.account_id')
    .where('k.key_hash', digest(key))
    .whereNull('k.revoked_at')
    .whereRaw('(k.expires_at is null or k.expires_at > clock_timestamp())')
    .first<Account | undefined>('a.id', 'a.plan')
}
