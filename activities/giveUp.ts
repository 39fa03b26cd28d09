import { giveUpOperation } from '../operations/submit.js'
import { outcomeOf } from '../operations/outcome.js'
import { readOperations, type Operation } from '../operations/operations.js'
import { findPause, readPausedMs } from '../db/pauses.js'
import { DAILY_LIMIT } from '../domain/intent/operation.js'
import type { Db } from '../db/client/connect.js'

/**
 * Expires an unsigned operation whose deadline has passed, or whose intent can no longer complete.
 *
 * @param deadlineMs - Unix time. It moves by the time for which a pause or freeze stopped the operation.
 * @returns The operation as it is afterwards.
 */
export async function giveUpWhenLate(
  db: Db,
  row: Operation,
  deadlineMs: number,
): Promise<Operation> {
  const isUnsigned = outcomeOf(row).kind === 'deferred' || row.state === 'queued'
  if (!isUnsigned) return row
  const isHopeless = (await isLate(db, row, deadlineMs)) || (await isInVain(db, row))
  return isHopeless ? giveUpOperation(db, row) : row
}

async function isLate(db: Db, row: Operation, deadlineMs: number): Promise<boolean> {
  // A daily limit delays a step without a deadline.
  if (row.code === DAILY_LIMIT || Date.now() <= deadlineMs) return false
  if (await findPause(db, row)) return false
  return Date.now() > deadlineMs + (await readPausedMs(db, row))
}

/** Whether an earlier step has failed, after a reorg for example. The intent cannot complete then. */
async function isInVain(db: Db, { intentId, sequence }: Operation): Promise<boolean> {
  const rows = await readOperations(db, intentId)
  const isMinted = (at: number) =>
    rows.some((row) => row.sequence === at && row.kind === 'mint' && outcomeOf(row).kind === 'done')
  return rows.some(
    (row) => row.sequence < sequence && outcomeOf(row).kind === 'failed' && !isMinted(row.sequence),
  )
}
