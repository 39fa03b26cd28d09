import type { Operation } from './operations.js'

/** The result of an operation's row for its step. */
export type Outcome =
  | { kind: 'done'; txHash: string; units: bigint | undefined }
  | { kind: 'failed'; code: string | undefined; message: string }
  | { kind: 'deferred'; code: string; message: string; retryAfter: Date }
  | { kind: 'waiting'; state: string }

/** The only place that decides whether a step is finished. */
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

/** The result of the operation's log: the inner call may have failed in a successful transaction. */
function verdictOf({ success, txHash, units, message: refusal }: Operation): Outcome {
  if (!success) {
    const why = refusal ? `: ${refusal}` : '.'
    const message = `The call failed on chain in transaction ${txHash}${why}`
    return { kind: 'failed', code: undefined, message }
  }
  return { kind: 'done', txHash: txHash ?? '', units: units === null ? undefined : BigInt(units) }
}

/** True when no transaction of ours includes the operation now. */
export const isUnsent = ({ state, txId }: Operation) =>
  state === 'queued' || state === 'deferred' || (state === 'signed' && txId === null)
