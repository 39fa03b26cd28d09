import { LOOK_MS } from '../durations.js'
import type { Client } from '@temporalio/client'
import { crashPoint } from '../crashPoints.js'
import { claimStarts } from '../db/intents/starting.js'
import { setDispatched } from '../db/intents/status.js'
import { factsOf, once, onceHere, startWorkflow, workOf, type Start } from '../temporal/start.js'
import type { Bell } from '../bell.js'
import type { Db } from '../db/connection/connect.js'
import type { Log } from '../log.js'
import type { Presence } from './presence.js'
import type { Rollout } from './rollout.js'

/** Intents that are claimed and started together, and fundings. */
export const BATCH = 8

type Tools = {
  db: Db
  client: Client
  temporal: Presence
  /** Rung when something is stored. */
  stored: Bell
  log: Log
  /**
   * `isCurrent`: whether Temporal routes to the version of this worker, which then begins what it starts at once. Temporal
   * would let one of another version begin it too.
   */
  rollout: Pick<Rollout, 'isCurrent'>
  /** For how long a claimed row is left alone, ms. */
  leaseMs?: number
}

/**
 * Starts the workflows of stored intents and fundings until the signal aborts. Any worker claims them; what could not be
 * started is free again a few seconds later.
 */
export async function runStarter(tools: Tools, stopping: AbortSignal): Promise<void> {
  const { temporal, stored, log } = tools
  while (!stopping.aborted) {
    await temporal.untilThere()
    if (stopping.aborted) return
    const isFull = await startSome(tools).catch((error: unknown) => {
      log.warn({ err: error }, 'no workflows started')
      return false
    })
    if (!isFull) await stored.wait(LOOK_MS, stopping)
  }
}

/** @returns Whether more may wait. */
async function startSome(tools: Tools): Promise<boolean> {
  const kinds = ['intent', 'funding'] as const
  const { db, leaseMs } = tools
  const claim = { limit: BATCH, ...(leaseMs && { leaseMs }) }
  const claims = await Promise.all(kinds.map((kind) => claimStarts(db, kind, claim)))
  await Promise.all(claims.flat().map((start) => startOne(start, tools)))
  return claims.some(({ length }) => length === BATCH)
}

async function startOne(start: Start, { client, db, log, rollout }: Tools): Promise<void> {
  crashPoint('worker: before the start')
  try {
    await startWorkflow(client, start, rollout.isCurrent() ? onceHere : once)
    await setDispatched(db, workOf(start).id)
  } catch (error) {
    log.warn({ ...factsOf(start), err: error }, 'workflow not started yet')
  }
}
