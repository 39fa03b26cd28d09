import { findStop, type Stop } from '../db/lanes/stops.js'
import { waitingCodeOf } from '../domain/waiting.js'
import { isUnsent } from '../lanes/outcome.js'
import type { Order } from '../db/auditEvents.js'
import type { Db } from '../db/connection/connect.js'
import type { Operation } from '../db/lanes/operations.js'
import type { Hold } from '../domain/hold.js'

/** What an operation that is not over waits for; undefined when it is over. An operator's stop comes first. */
export async function findHold(db: Db, row: Operation): Promise<Hold | undefined> {
  const stop = isUnsent(row) ? await findStop(db, row) : undefined
  if (stop) return stoppedBy(stop)
  const code = waitingCodeOf({ ...row, isCarried: row.txId !== null })
  return code && { code, message: reasonOf(row), since: sinceWhen(row).toISOString() }
}

function stoppedBy({ scope, since, by, why }: Stop & Order): Hold {
  const isPaused = scope === 'chain' || scope === 'deployment'
  const message = `The ${scope} is ${isPaused ? 'paused' : 'frozen'} since ${since.toISOString()} by ${by}: ${why}`
  return { code: isPaused ? 'PAUSED' : 'FROZEN', message, since: since.toISOString() }
}

function sinceWhen({ state, waitsSince, changedAt, createdAt }: Operation): Date {
  const isUnsigned = state === 'queued' || state === 'deferred'
  return (isUnsigned ? waitsSince : changedAt) ?? createdAt
}

/** What an operation that is not over waits for, as its row says. */
export function reasonOf({ state, kind, txHash, spentSince, waitsFor, message }: Operation) {
  const known = spentSince !== null || waitsFor !== null ? message : null
  switch (state) {
    case 'deferred':
      return message ?? state
    case 'queued':
      return known ?? `Waits for the signer${turns[kind] ?? ''}.`
    case 'signed':
      return message ?? 'Signed and sent, waits to be mined.'
    default:
      return `In transaction ${txHash}, waits for confirmations.`
  }
}

const turns: Partial<Record<Operation['kind'], string>> = {
  swap: ', which lets one swap of a pair go at a time',
  bridge: ', which lets one burn of a wallet go at a time',
}
