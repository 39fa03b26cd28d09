import { Context } from '@temporalio/activity'
import type { Outcomes } from '../lanes/watching.js'

/**
 * A usual step is over by then, under load too, and of an unusual one it was told what holds it up. What waits longer
 * gives its slot back, costs Temporal nothing, and is woken: that costs as much as to wait on for another minute.
 */
const ATTEMPT_MS = 65_000
/** Below the first heartbeat: what is woken has often another change before it. */
const LATER_ATTEMPT_MS = 5_000
/** A parked step comes back by itself for what nobody wakes it for, such as what an operator is told of it. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 3_600_000]

type Waking = { outcomes: Outcomes; stopping: AbortSignal }

/** Milliseconds for which an attempt waits for what was ordered so long ago. */
export const attemptMs = (ageMs: number): number => Math.max(ATTEMPT_MS - ageMs, LATER_ATTEMPT_MS)

/**
 * Has the step of this attempt tried again as soon as its operation's row changes.
 *
 * @returns False when nobody would: then it must come back by itself, and soon.
 */
export async function park({ outcomes, stopping }: Waking, id: string): Promise<boolean> {
  if (stopping.aborted) return false
  const { workflowExecution, activityType } = Context.current().info
  const workflowId = workflowExecution?.workflowId
  if (workflowId === undefined) return false
  await outcomes.park(id, { workflowId, activity: activityType })
  return true
}

/** Milliseconds after which a parked step comes back by itself, at most when there is something to do for it. */
export const parkedPause = (mostMs = Infinity): number =>
  Math.max(Math.min(mostMs, LONGEST_PAUSE_MS), SHORTEST_PAUSE_MS)
