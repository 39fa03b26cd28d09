import { ServiceError } from '../domain/errors.js'
import type { Db } from './client/connect.js'

/** The KEK that new secrets are sealed to. Undefined before the first start of the signer. */
export async function findActiveKek(
  db: Db,
): Promise<{ id: string; publicKey: Buffer } | undefined> {
  return db('kek')
    .where({ active: true })
    .first<{ id: string; publicKey: Buffer } | undefined>('id', 'public_key as publicKey')
}

/** Publishes the KEK that new secrets are sealed to. Rejects a second one. */
export async function publishKek(db: Db, kek: { id: string; publicKey: Uint8Array }) {
  await db('kek')
    .insert({ id: kek.id, public_key: Buffer.from(kek.publicKey), active: true })
    .onConflict()
    .ignore()
  const active = await db('kek').where({ active: true }).first<{ id: string }>('id')
  if (active.id !== kek.id) {
    throw new ServiceError(
      'MISCONFIGURED',
      `KEK_FILE contains ${kek.id}, but the secrets of this database are sealed to ${active.id}. Restore that file.`,
    )
  }
}

export async function hasKek(db: Db): Promise<boolean> {
  return (await db('kek').first('id')) !== undefined
}

export type Treasury = { address: string; kekId: string; sealed: Buffer }

export async function findTreasury(db: Db): Promise<Treasury | undefined> {
  return db('treasury').first<Treasury | undefined>('address', 'kek_id as kekId', 'sealed')
}

/** The public address of the treasury. Undefined before the first start of the signer. */
export async function findTreasuryAddress(db: Db): Promise<string | undefined> {
  const row = await db('treasury').first<{ address: string } | undefined>('address')
  return row?.address
}

export async function insertTreasury(db: Db, treasury: Treasury): Promise<void> {
  await db('treasury').insert({
    address: treasury.address,
    kek_id: treasury.kekId,
    sealed: treasury.sealed,
  })
}

/** A sealed wallet key and the context that it is bound to. */
export type WalletSecret = {
  walletId: string
  accountId: string
  address: string
  kekId: string
  sealed: Buffer
}

export async function getWalletSecret(db: Db, walletId: string): Promise<WalletSecret> {
  const row = await db('wallet as w')
    .join('wallet_secret as s', 's.wallet_id', 'w.id')
    .where('w.id', walletId)
    .first<WalletSecret | undefined>(
      'w.id as walletId',
      'w.account_id as accountId',
      'w.address',
      's.kek_id as kekId',
      's.sealed',
    )
  if (!row) throw new Error(`Wallet ${walletId} has no key.`)
  return row
}
