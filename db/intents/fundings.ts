import { newId } from '../connection/ids.js'
import type { Db } from '../connection/connect.js'

/** Test money on its way to a wallet. */
export type Funding = {
  id: string
  accountId: string
  walletId: string
  chainId: bigint
  units: string
  createdAt: Date
  completedAt: Date | null
}

export const fundingColumns = [
  'id',
  'account_id as accountId',
  'wallet_id as walletId',
  'chain_id as chainId',
  'units',
  'created_at as createdAt',
  'completed_at as completedAt',
]

export async function insertFunding(
  db: Db,
  funding: { accountId: string; walletId: string; chainId: number; units: bigint },
): Promise<Funding> {
  const [row] = await db('funding')
    .insert({
      id: newId('fund_'),
      account_id: funding.accountId,
      wallet_id: funding.walletId,
      chain_id: funding.chainId,
      units: funding.units.toString(),
    })
    .returning<Funding[]>(fundingColumns)
  if (!row) throw new Error('The funding was not stored.')
  return row
}

export async function findFunding(db: Db, id: string): Promise<Funding | undefined> {
  return db('funding').where({ id }).first<Funding | undefined>(fundingColumns)
}

export async function setFundingCompleted(db: Db, id: string): Promise<void> {
  await db('funding')
    .where({ id })
    .whereNull('completed_at')
    .update({ completed_at: db.raw('clock_timestamp()') })
}
