import type { Operation } from '../db/lanes/operations.js'

/** What an operation's row says about its step. */
export type Outcome =
  | { kind: 'done'; txHash: string; units: bigint | undefined }
  | { kind: 'failed'; code: string | undefined; message: string }
  | { kind: 'deferred'; code: string; message: string; retryAfter: Date }
  | { kind: 'waiting'; state: string }

/** The only judge of whether a step is over. */
export function outcomeOf(row: Operation): Outcome {
  switch (row.state) {
    case 'confirmed':
    case 'final':
      return verdictOf(row)
    case 'rejected':
    case 'cancelled':
      return { kind: 'failed', code: row.code ?? undefined, message: row.message ?? row.state }
    case 'deferred':
      return {
        kind: 'deferred',
        code: row.code ?? 'INTERNAL',
        message: row.message ?? row.state,
        retryAfter: row.retryAfter ?? new Date(),
      }
    default:
      return { kind: 'waiting', state: row.state }
  }
}

/** What the operation's log says: the call inside may have failed though the transaction succeeded. */
function verdictOf({ success, txHash, units, message: refusal }: Operation): Outcome {
  if (!success) {
    const why = refusal ? `: ${refusal}` : '.'
    const message = `The call failed on chain in transaction ${txHash}${why}`
    return { kind: 'failed', code: undefined, message }
  }
  return { kind: 'done', txHash: txHash ?? '', units: units === null ? undefined : BigInt(units) }
}

/** No transaction of ours carries it now. */
export const isUnsent = ({ state, txId }: Operation) =>
  state === 'queued' || state === 'deferred' || (state === 'signed' && txId === null)
