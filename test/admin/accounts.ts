import { createHash } from 'node:crypto'
import { newId } from '../../db/client/ids.js'
import { createAccount, createApiKey, type Scope } from '../../db/accounts/accounts.js'
import { admit } from '../../db/usage/metering.js'
import type { Db } from '../../db/client/connect.js'

export const keyIn = (text: string) => /svc_sk_[0-9a-f]{64}/.exec(text)?.[0] ?? ''

type KeyRow = Record<string, unknown> & { id: string; expires_at: Date | null }

export async function findKeyRow(db: Db, key: string): Promise<KeyRow> {
  const key_hash = createHash('sha256').update(key).digest()
  return db('api_key').where({ key_hash }).first<KeyRow>()
}

/** The status of an API call with the key. */
export function admitCall(db: Db, key: string, call: { scope: Scope; cost: number }) {
  return admit(db, { key, requestId: newId('req_'), route: 'test', ...call })
}

/** A pro account and its key. */
export async function createTestAccount(db: Db): Promise<{ id: string; key: string }> {
  const { id } = await createAccount(db, { name: 'Acme Ltd', plan: 'pro' })
  return { id, key: await createApiKey(db, id, { name: 'first' }) }
}
