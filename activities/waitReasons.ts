import { findPause, type Pause } from '../db/pauses.js'
import { waitingCodeOf } from '../domain/intent/waiting.js'
import { isUnsent } from '../operations/outcome.js'
import type { Order } from '../db/auditEvents.js'
import type { Db } from '../db/client/connect.js'
import type { Operation } from '../operations/operations.js'
import type { WaitReason } from '../domain/intent/waitReason.js'

/** The wait reason of an open operation; undefined when it is finished. A pause or freeze takes precedence. */
export async function findWaitReason(db: Db, row: Operation): Promise<WaitReason | undefined> {
  const isPausable = isUnsent(row) || row.state === 'signed'
  const pause = isPausable ? await findPause(db, row) : undefined
  if (pause) return stoppedBy(pause)
  const code = waitingCodeOf({ ...row, isIncluded: row.txId !== null })
  return code && { code, message: reasonOf(row), since: sinceWhen(row).toISOString() }
}

function stoppedBy({ scope, since, by, why }: Pause & Order): WaitReason {
  const isPaused = scope === 'chain' || scope === 'deployment'
  const message = `${by} ${isPaused ? 'paused' : 'froze'} the ${scope} at ${since.toISOString()}: ${why}`
  return { code: isPaused ? 'PAUSED' : 'FROZEN', message, since: since.toISOString() }
}

function sinceWhen({ state, waitsSince, changedAt, createdAt }: Operation): Date {
  const isUnsigned = state === 'queued' || state === 'deferred'
  return (isUnsigned ? waitsSince : changedAt) ?? createdAt
}

/** The wait reason of an open operation as text, read from its row. */
export function reasonOf({ state, kind, txHash, spentSince, waitsFor, message }: Operation) {
  const stored = spentSince !== null || waitsFor !== null ? message : null
  switch (state) {
    case 'deferred':
      return message ?? state
    case 'queued':
      return stored ?? `Waits for the signer${exclusions[kind] ?? ''}.`
    case 'signed':
      return message ?? 'Signed and sent. Waits for its inclusion in a block.'
    default:
      return `Included in transaction ${txHash}. Waits for confirmations.`
  }
}

const exclusions: Partial<Record<Operation['kind'], string>> = {
  swap: ', which signs one swap of a pair at a time',
  bridge: ', which signs one burn of a wallet at a time',
}
