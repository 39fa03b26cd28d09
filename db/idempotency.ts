import { createHash } from 'node:crypto'
import { selectScoped } from './scope.js'
import type { Db } from './connect.js'

/** What a client named a request by, and what the request was. */
export type IdempotencyKey = {
  accountId: string
  endpoint: string
  key: string
  /** SHA-256 of the validated body. */
  fingerprint: Buffer
}

export type StoredAnswer = { status: number; body: string; fingerprint: Buffer }

/** SHA-256 of a validated body, whatever the order of its members. */
export function fingerprintOf(body: unknown): Buffer {
  return createHash('sha256').update(canonicalJson(body)).digest()
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

/** The answer that was given to a key. */
export async function findAnswer(db: Db, key: IdempotencyKey): Promise<StoredAnswer | undefined> {
  const query = db('idempotency_key')
    .where({ account_id: key.accountId, endpoint: key.endpoint, key: key.key })
    .select('status', 'body', 'fingerprint')
  const [answer] = await selectScoped<StoredAnswer>(db, key.accountId, query)
  return answer
}

/**
 * Takes a key for the caller's transaction. A concurrent twin waits here until the first one ends.
 *
 * @returns False when the key was taken meanwhile: there is an answer to replay then.
 */
export async function claimKey(trx: Db, key: IdempotencyKey): Promise<boolean> {
  const { rowCount } = await trx.raw<{ rowCount: number }>(
    `insert into idempotency_key (account_id, endpoint, key, fingerprint, status, body)
     values (?, ?, ?, ?, 0, '') on conflict do nothing`,
    [key.accountId, key.endpoint, key.key, key.fingerprint],
  )
  return rowCount === 1
}

/** Keeps the answer of a key that this transaction has claimed. */
export async function storeAnswer(
  trx: Db,
  key: IdempotencyKey,
  answer: { status: number; body: string },
): Promise<void> {
  await trx('idempotency_key')
    .where({ account_id: key.accountId, endpoint: key.endpoint, key: key.key })
    .update(answer)
}
