import { MAX_NOTIFY_WAIT_MS } from '../runtime/durations.js'
import { faultPoint } from '../runtime/faultPoints.js'
import { claimStarts } from '../db/intents/starting.js'
import { setDispatched } from '../db/intents/status.js'
import {
  factsOf,
  once,
  onceHere,
  startWorkflow,
  workOf,
  type Start,
  type Starter,
} from '../workflows/client/start.js'
import type { Notifier } from '../runtime/notifier.js'
import type { Db } from '../db/client/connect.js'
import type { Log } from '../runtime/log.js'
import type { Presence } from './presence.js'
import type { Rollout } from './rollout.js'

/** Intents, and fundings, that are claimed and started per batch. */
export const BATCH = 8

type StarterTools = Starter & {
  db: Db
  temporal: Presence
  /** Notified when an intent or a funding is stored. */
  stored: Notifier
  log: Log
  /**
   * `isCurrent`: whether Temporal routes to the version of this worker. Only then the worker requests eager starts,
   * because Temporal grants them to any version.
   */
  rollout: Pick<Rollout, 'isCurrent'>
  /** Lease of a claimed row, ms. */
  leaseMs?: number
}

/**
 * Starts the workflows of stored intents and fundings until the signal aborts. Any worker may claim them. A failed start
 * is claimable again when its lease expires.
 */
export async function runStarter(tools: StarterTools, stopping: AbortSignal): Promise<void> {
  const { temporal, stored, log } = tools
  while (!stopping.aborted) {
    await temporal.untilThere()
    if (stopping.aborted) return
    const isFull = await startSome(tools).catch((error: unknown) => {
      log.warn({ err: error }, 'workflows not started')
      return false
    })
    if (!isFull) await stored.wait(MAX_NOTIFY_WAIT_MS, stopping)
  }
}

/** @returns Whether more rows may wait. */
async function startSome(tools: StarterTools): Promise<boolean> {
  const kinds = ['intent', 'funding'] as const
  const { db, leaseMs } = tools
  const claim = { limit: BATCH, ...(leaseMs && { leaseMs }) }
  const claims = await Promise.all(kinds.map((kind) => claimStarts(db, kind, claim)))
  await Promise.all(claims.flat().map((start) => startOne(start, tools)))
  return claims.some(({ length }) => length === BATCH)
}

async function startOne(start: Start, tools: StarterTools): Promise<void> {
  const { db, log, rollout } = tools
  faultPoint('worker: before the start')
  try {
    await startWorkflow(tools, start, rollout.isCurrent() ? onceHere : once)
    await setDispatched(db, workOf(start).id)
  } catch (error) {
    log.warn({ ...factsOf(start), err: error }, 'workflow not started yet')
  }
}
