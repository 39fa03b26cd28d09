import { slowTransferMessage } from './slowTransfer.js'
import { waitingCodeOf, waitingMessage } from './waiting.js'
import type { OperationKind, OperationState } from './operation.js'
import type { PauseScope, WaitingCode } from './waiting.js'

/** Status of a step, or of a part of it. */
export const stepStatuses = {
  pending: 'it waits for the steps before it',
  waiting: 'it is next, and none of its transactions is in flight: `waitingFor` states why',
  executing: 'its transaction is signed, and not confirmed yet',
  completed: 'it is confirmed',
  failed: 'it failed',
  cancelled: 'it was never started, because the intent ended first',
} as const
export type StepStatus = keyof typeof stepStatuses

/** The state of an operation, for its part of a step. Times are ISO 8601, null until they occur. */
export type StepOperation = {
  sequence: number
  kind: OperationKind
  chain: string
  state: OperationState
  success: boolean | null
  code: string | null
  message: string | null
  waitsFor: string | null
  isIncluded: boolean
  pause: { scope: PauseScope; since: string } | null
  txHash: string | null
  startedAt: string
  waitsSince: string | null
  signedAt: string | null
  minedAt: string | null
  endedAt: string | null
  changedAt: string | null
  /** Set for burns only. */
  burnedAt: string | null
  attestedAt: string | null
  /** Why a fast transfer is attested as a standard one, in the words of the service. */
  delayReason: string | null
}

export const isConfirmed = ({ state }: StepOperation) => state === 'confirmed' || state === 'final'
export const hasBurned = (burn: StepOperation) => isConfirmed(burn) && burn.success === true

export function operationStatus(row: StepOperation): StepStatus {
  const { state, code, success, isIncluded } = row
  switch (state) {
    case 'queued':
    case 'deferred':
      return 'waiting'
    case 'signed':
      return isIncluded ? 'executing' : 'waiting'
    case 'mined':
      return 'executing'
    case 'confirmed':
    case 'final':
      return success ? 'completed' : 'failed'
    case 'rejected':
      return 'failed'
    case 'cancelled':
      return code === 'CANCELLED' ? 'cancelled' : 'failed'
  }
}

/** A transaction hash is published once it is in a canonical block. */
export const hashOf = ({ state, txHash }: StepOperation) =>
  ['mined', 'confirmed', 'final'].includes(state) ? (txHash ?? undefined) : undefined

export const waitReason = (code: WaitingCode, chain: string) => ({
  code,
  message: waitingMessage(code, chain),
})

type FoundWait = { code: WaitingCode; since: string; message?: string | null }

/** What a bridge step waits for after its burn: the attestation, then the order of its mint. */
export function afterBurn(burn: StepOperation): FoundWait {
  const { chain, burnedAt, attestedAt, startedAt, delayReason } = burn
  if (attestedAt) return { code: 'SERVICE', since: attestedAt }
  const wait = { code: 'ATTESTATION', since: burnedAt ?? startedAt } as const
  if (!delayReason) return wait
  const message = `${waitingMessage('ATTESTATION', chain)} ${slowTransferMessage(delayReason)}`
  return { ...wait, message }
}

/** What an operation waits for, undefined when it has ended. */
export function waitOfOperation(row: StepOperation): FoundWait | undefined {
  const code = waitingCodeOf({ ...row, pause: row.pause?.scope })
  if (!code) return undefined
  // The message of the chain or market is more specific than that of the code.
  const message = code === 'MARKET_ROOM' || code === 'REFUSED' ? row.message : undefined
  return { code, since: sinceOf(row, code), ...optional('message', message) }
}

function sinceOf(row: StepOperation, code: WaitingCode): string {
  const { pause, startedAt, waitsSince, changedAt } = row
  if (code === 'PAUSED' || code === 'FROZEN') return latest([pause?.since, startedAt]) ?? startedAt
  return inFlightSince(row, code) ?? waitsSince ?? changedAt ?? startedAt
}

function inFlightSince({ signedAt, minedAt }: StepOperation, code: WaitingCode): string | null {
  if (code === 'CONFIRMATIONS') return minedAt
  return code === 'MINING' || code === 'RESENDING' ? signedAt : null
}

/** The latest of the given times, in any time zone. Undefined without times. */
export function latest(times: (string | null | undefined)[]): string | undefined {
  const known = times.filter((time) => time !== null && time !== undefined)
  return known.reduce<string | undefined>(
    (last, time) => (last === undefined || Date.parse(time) > Date.parse(last) ? time : last),
    undefined,
  )
}

export const optional = <Name extends string, Value>(name: Name, value: Value | null | undefined) =>
  (value === undefined || value === null ? {} : { [name]: value }) as { [K in Name]?: Value }
