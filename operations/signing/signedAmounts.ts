import { DAILY_LIMIT, type OperationKind } from '../../domain/intent/operation.js'
import { lockName } from '../../db/client/locks.js'
import type { Db } from '../../db/client/connect.js'

/** The amounts that are counted: those of a wallet, or payments of the treasury. Absent: all. */
export type SignedAmountFilter = { walletId?: string; isFunding?: true }

/** Locks the signed amounts until the transaction ends, so that sums are exact with several signers. */
export const lockSignedAmounts = (trx: Db): Promise<void> => lockName(trx, 'signed amounts')

/** The amount of an operation that is signed in the same transaction, in base units of dollars. */
export type SignedAmount = { id: string; kind: OperationKind; walletId: string; units: bigint }

export async function insertSignedAmounts(trx: Db, amounts: SignedAmount[]): Promise<void> {
  if (amounts.length === 0) return
  await trx('signed_amount').insert(
    amounts.map(({ id, kind, walletId, units }) => ({
      ...{ operation_id: id, wallet_id: walletId, units: units.toString() },
      is_funding: kind === 'fund',
    })),
  )
}

/** Total base units of dollars signed in the last 24 hours. */
export async function readSignedToday(trx: Db, counted: SignedAmountFilter = {}): Promise<bigint> {
  const row = await signedToday(trx)
    .where(amountsOf(counted))
    .sum<{ units: string | null }>('units as units')
    .first()
  return BigInt(row?.units ?? 0)
}

/** Base units signed in the last 24 hours per wallet. Wallets without a signed amount are absent. */
export async function readSignedTodayOf(
  trx: Db,
  walletIds: string[],
): Promise<Map<string, bigint>> {
  const rows = await signedToday(trx)
    .whereIn('wallet_id', walletIds)
    .groupBy('wallet_id')
    .select<{ walletId: string; units: string }[]>(
      'wallet_id as walletId',
      trx.raw('sum(units) as units'),
    )
  return new Map(rows.map(({ walletId, units }) => [walletId, BigInt(units)]))
}

const amountsOf = ({ walletId, isFunding }: SignedAmountFilter) => ({
  ...(walletId !== undefined && { wallet_id: walletId }),
  ...(isFunding && { is_funding: true }),
})

const signedToday = (trx: Db) =>
  trx('signed_amount').whereRaw(`signed_at > statement_timestamp() - interval '24 hours'`)

/**
 * Deletes at most `limit` amounts that were signed more than two days ago and count towards no limit.
 *
 * @returns How many were deleted. Less than `limit` when none is left.
 */
export async function pruneSignedAmounts(db: Db, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `delete from signed_amount where operation_id = any (array(
       select operation_id from signed_amount
       where signed_at < statement_timestamp() - interval '48 hours' order by signed_at limit ?))`,
    [limit],
  )
  return rowCount
}

/** When this many base units of the last 24 hours will be older than that. */
export async function findCapacityAt(
  trx: Db,
  counted: SignedAmountFilter,
  units: bigint,
): Promise<Date | undefined> {
  const today = signedToday(trx)
    .where(amountsOf(counted))
    .select('signed_at', trx.raw('sum(units) over (order by signed_at, operation_id) as gone'))
  const row = await trx
    .from(today.as('today'))
    .where('gone', '>=', units.toString())
    .orderBy('gone')
    .first<{ at: Date } | undefined>(trx.raw(`signed_at + interval '24 hours' as at`))
  return row?.at
}

/** True when other operations already wait for the same limit. */
export async function areOthersWaiting(
  trx: Db,
  id: string,
  { walletId, isFunding }: SignedAmountFilter,
): Promise<boolean> {
  const row = await trx('operation')
    .where(walletId === undefined ? {} : { wallet_id: walletId })
    .where(isFunding ? { kind: 'fund' } : {})
    // Literals instead of parameters, so that the generic plan uses their index.
    .whereRaw(`code = '${DAILY_LIMIT}' and state in ('queued', 'deferred')`)
    .whereNot({ id })
    .first<object | undefined>('id')
  return row !== undefined
}
