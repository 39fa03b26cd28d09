import { isLedElsewhere, type Db } from '../../db/client/connect.js'
import { ServiceError } from '../../domain/errors.js'
import { MAX_NOTIFY_WAIT_MS, RETRY_MS } from '../../runtime/durations.js'
import type { Chains } from '../../evm/connect.js'
import type { OpenBurn } from '../../operations/burns.js'
import type { PartLog } from '../../runtime/log.js'
import type { Attestations } from '../../evm/bridges/bridge.js'

/** Delays in ms. Circle recommends at least 5 s between two requests for one burn. */
export const usualDelays = { shortestMs: 5_000, lookMs: MAX_NOTIFY_WAIT_MS, retryMs: RETRY_MS }

/** `nextAt`: Unix time in ms of the next request about a transaction. `renewals`: expiries of its messages so far. */
export type BurnSchedule = { nextAt: number; renewals: number }

/** A burn without a message, or with one that has expired or that the destination refuses. */
export type UnattestedBurn = OpenBurn & { hasExpired: boolean }

export type AttesterTools = {
  attestations: Attestations
  chains: Chains
  log: PartLog
  delays: typeof usualDelays
  /** The leader's session. */
  db: Db
  /** Block number that the contracts of a chain see; undefined until it is known. */
  contractBlock: (chainId: number) => bigint | undefined
  /** By transaction. */
  schedules: Map<string, BurnSchedule>
  /** Running requests by transaction. */
  underWay: Map<string, Promise<void>>
  /** Failure of the service that was logged last; undefined while it answers. */
  complaint: 'silent' | 'throttled' | undefined
}

/** Logs a failure of the service once until it answers again. Logs nothing in a process that does not lead. */
export function logFailure(tools: AttesterTools, error: unknown): void {
  const { log } = tools
  if (isLedElsewhere(error)) return
  if (!(error instanceof ServiceError && error.code === 'NETWORK_ERROR')) {
    log.warn({ err: error }, 'attestation request failed')
    return
  }
  const { retryAfter } = error.details
  const complaint = retryAfter === undefined ? 'silent' : 'throttled'
  if (complaint === tools.complaint) return
  tools.complaint = complaint
  if (complaint === 'silent') log.warn({ err: error }, 'attestation service unreachable')
  else log.warn({ retryAfter }, 'attestation requests throttled by the service')
}
