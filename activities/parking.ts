import { Context } from '@temporalio/activity'
import type { Outcomes } from '../lanes/watching.js'

/** A usual step is over by then. What waits longer gives its slot back, costs Temporal nothing, and is woken. */
const ATTEMPT_MS = 30_000
/** Below the first heartbeat: what is woken has often another change before it. */
const LATER_ATTEMPT_MS = 5_000
/** Where nobody wakes it, a long wait is many short attempts, which write no history. */
const LONE_ATTEMPT_MS = 60_000
/** A step that nobody has woken, because the worker that it was parked by died, comes back by itself. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 15 * 60_000]

type Waking = { outcomes: Outcomes; stopping: AbortSignal }

/** Milliseconds for which an attempt waits for what was ordered so long ago. */
export function attemptMs({ outcomes }: Waking, ageMs: number): number {
  if (!outcomes.park) return LONE_ATTEMPT_MS
  return Math.max(ATTEMPT_MS - ageMs, LATER_ATTEMPT_MS)
}

/**
 * Has the step of this attempt tried again as soon as its operation's row changes.
 *
 * @returns False when nobody would: then it must come back by itself, and soon.
 */
export async function park({ outcomes, stopping }: Waking, id: string): Promise<boolean> {
  if (!outcomes.park || stopping.aborted) return false
  const { workflowExecution, activityType } = Context.current().info
  const workflowId = workflowExecution?.workflowId
  if (workflowId === undefined) return false
  await outcomes.park(id, { workflowId, activity: activityType })
  return true
}

/** The pause after which a parked step comes back by itself: at most as long as it has waited. */
export const parkedPause = (ageMs: number, leastMs = Infinity): number =>
  Math.max(Math.min(ageMs, leastMs, LONGEST_PAUSE_MS), SHORTEST_PAUSE_MS)
