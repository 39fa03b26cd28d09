import { namedColumns } from '../client/columns.js'
import { newId } from '../client/ids.js'
import { lockName } from '../client/locks.js'
import { runPrepared, type Statement } from '../client/prepared.js'
import { selectScoped } from '../client/scope.js'
import { OPERATIONS, toStepOperation, type OperationRow } from './timeline.js'
import { ServiceError } from '../../domain/errors.js'
import type { Db } from '../client/connect.js'
import type { StepOperation } from '../../domain/intent/stepOperation.js'

/** A transfer of test money to a wallet. */
export type StoredFunding = {
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
): Promise<StoredFunding> {
  const [row] = await db('funding')
    .insert({
      id: newId('fund_'),
      account_id: funding.accountId,
      wallet_id: funding.walletId,
      chain_id: funding.chainId,
      units: funding.units.toString(),
    })
    .returning<StoredFunding[]>(fundingColumns)
  if (!row) throw new Error('The funding was not stored.')
  return row
}

/** Serializes transactions that count the fundings of an account. */
export const lockFundings = (trx: Db, accountId: string): Promise<void> =>
  lockName(trx, `fundings/${accountId}`)

/**
 * Seconds until one more funding of an account or a wallet is within its limit, 0 when it is now. Failed fundings do not
 * count. Exact in a transaction that has locked the account's fundings.
 *
 * @param perDay - The most fundings within 24 hours. 0: unlimited.
 */
export async function secondsUntilFunding(
  trx: Db,
  holder: { account_id: string } | { wallet_id: string },
  perDay: number,
): Promise<number> {
  if (perDay === 0) return 0
  const row = await trx('funding as f')
    .where(holder)
    .whereRaw(`f.created_at > statement_timestamp() - interval '1 day'`)
    .whereNotExists(
      trx('operation as o')
        .whereRaw(`o.intent_id = f.id and o.kind = 'fund'`)
        .whereRaw(`(o.state in ('rejected', 'cancelled') or o.state = 'final' and not o.success)`),
    )
    .orderBy('f.created_at', 'desc')
    // The funding that must be a day old before another one is allowed.
    .offset(perDay - 1)
    .first<{ seconds: number } | undefined>(
      trx.raw(
        `ceil(extract(epoch from f.created_at + interval '1 day' - clock_timestamp()))::int as seconds`,
      ),
    )
  return row ? Math.max(1, row.seconds) : 0
}

const findStatement: Statement = {
  name: 'find funding',
  text: `select ${namedColumns('f', fundingColumns)} from funding f where f.id = $1`,
}

export async function findFunding(db: Db, id: string): Promise<StoredFunding | undefined> {
  const [row] = await runPrepared<StoredFunding>(db, findStatement, [id])
  return row
}

/**
 * A funding of the account, with the operation that pays it, or undefined before it is ordered.
 *
 * @throws {ServiceError} FUNDING_NOT_FOUND, the same for unknown and foreign fundings.
 */
export async function getFunding(
  db: Db,
  accountId: string,
  id: string,
): Promise<{ funding: StoredFunding; operation: StepOperation | undefined }> {
  const query = db('funding as i')
    .where({ 'i.account_id': accountId, 'i.id': id })
    .select(fundingColumns.map((column) => `i.${column}`))
    .select(db.raw(`(${OPERATIONS}) as operations`))
  const [row] = await selectScoped<StoredFunding & { operations: OperationRow[] | null }>(
    db,
    accountId,
    query,
  )
  if (!row) throw new ServiceError('FUNDING_NOT_FOUND', 'There is no funding with this id.')
  const { operations, ...funding } = row
  const [operation] = operations ?? []
  return { funding, operation: operation && toStepOperation(operation) }
}

/** The most fundings that are read. */
const MOST_OPEN = 10

/** Fundings of a wallet that have neither arrived nor failed, the oldest first. */
export async function readOpenFundings(trx: Db, walletId: string): Promise<StoredFunding[]> {
  return trx('funding as f')
    .where({ wallet_id: walletId })
    .whereNull('completed_at')
    .whereNotExists(
      trx('operation as o')
        .whereRaw(`o.intent_id = f.id and o.kind = 'fund'`)
        .whereIn('o.state', ['confirmed', 'final', 'rejected', 'cancelled']),
    )
    .orderBy('created_at')
    .limit(MOST_OPEN)
    .select<StoredFunding[]>(fundingColumns)
}

const completeStatement: Statement = {
  name: 'complete funding',
  text: 'update funding set completed_at = clock_timestamp() where id = $1 and completed_at is null',
}

export async function setFundingCompleted(db: Db, id: string): Promise<void> {
  await runPrepared(db, completeStatement, [id])
}
