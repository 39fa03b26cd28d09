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
  isFrozen: boolean
  /** Why the end of a failed intent is open, or null. */
  unsettled: object | null
}

/** The actions that succeed now. Whether a retry finds enough money is known only when it is planned. */
export function possibleActions(intent: Actionable): FollowUp[] {
  const { status, retriedBy, isCancellable, isFrozen, unsettled } = intent
  if (status === 'completed') return []
  if (status !== 'failed') return isCancellable ? ['cancel'] : []
  if (retriedBy !== null || unsettled || isFrozen) return []
  return hasRemainder(intent) ? ['retry'] : []
}
