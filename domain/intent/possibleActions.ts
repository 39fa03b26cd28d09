import { hasRemainder, type Failed } from './retry.js'
import type { LifecycleStatus } from './intent.js'

/** Actions on an intent after its creation, by the names of their endpoints. */
export const followUps = ['cancel', 'retry'] as const
export type FollowUp = (typeof followUps)[number]

/** An intent with the facts on which a cancellation and a retry depend. */
export type Actionable = Failed & {
  status: LifecycleStatus
  /** The intent that retries it, or null. */
  retriedBy: string | null
  isCancellable: boolean
  /** The deployment is paused, or the wallet or account is frozen. */
  isPaused: boolean
  /** Why the end of a failed intent is open, or null. */
  unsettled: object | null
}

/** The actions that succeed now, as far as the intent shows it. The plan and the charge of a retry may still fail. */
export function possibleActions(intent: Actionable): FollowUp[] {
  const { status, retriedBy, isCancellable, isPaused, unsettled } = intent
  if (status === 'completed') return []
  if (status !== 'failed') return isCancellable ? ['cancel'] : []
  if (retriedBy !== null || unsettled || isPaused) return []
  return hasRemainder(intent) ? ['retry'] : []
}
