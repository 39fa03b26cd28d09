import { setTimeout as sleep } from 'node:timers/promises'
import { WorkflowNotFoundError, type Client } from '@temporalio/client'
import { findUndispatchedFundings } from '../db/intents/fundings.js'
import { deleteExpiredKeys } from '../db/tenants/idempotency.js'
import { findLingeringIntents, findUndispatchedIntents } from '../db/intents/intents.js'
import { again, startFunding, startIntent } from '../temporal/start.js'
import type { Db } from '../db/connection/connect.js'
import type { Log } from '../log.js'

export type SweepTools = { db: Db; client: Client; log: Log }

const UNDISPATCHED_EVERY_MS = 2_000
/** The API starts workflows itself; what is older than this it did not manage to. */
const UNDISPATCHED_AFTER_MS = 5_000
const LINGERING_EVERY_MS = 60_000
const LINGERING_AFTER_MS = 60_000
/** A key whose time is over is good for nothing and in nobody's way. */
const EXPIRED_EVERY_MS = 3_600_000
/** Short statements: others write to the same table. */
const EXPIRED_BATCH = 1_000

/** Starts workflows that should run and do not, and deletes what is kept no longer, until the signal aborts. */
export async function runSweepers(tools: SweepTools, stopping: AbortSignal): Promise<void> {
  await Promise.all([
    every(UNDISPATCHED_EVERY_MS, tools, stopping, startUndispatched),
    every(LINGERING_EVERY_MS, tools, stopping, restartLingering),
    every(EXPIRED_EVERY_MS, tools, stopping, deleteExpired),
  ])
}

async function every(
  ms: number,
  tools: SweepTools,
  stopping: AbortSignal,
  sweep: (tools: SweepTools, stopping: AbortSignal) => Promise<void>,
): Promise<void> {
  while (!stopping.aborted) {
    await sweep(tools, stopping).catch((error: unknown) => {
      tools.log.warn({ err: error }, 'sweep failed')
    })
    await sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** Rows that were stored while Temporal was away, or whose process died right after. */
async function startUndispatched(tools: SweepTools): Promise<void> {
  const { db, client, log } = tools
  for (const { intent, tier } of await findUndispatchedIntents(db, UNDISPATCHED_AFTER_MS)) {
    await startIntent(client, db, { intent, tier })
    log.info({ intent: intent.id }, 'workflow started late')
  }
  for (const funding of await findUndispatchedFundings(db, UNDISPATCHED_AFTER_MS)) {
    await startFunding(client, db, funding)
    log.info({ funding: funding.id }, 'workflow started late')
  }
}

/** Intents whose run was terminated, or lost with Temporal's database: the rows say where to go on. */
async function restartLingering(tools: SweepTools, stopping: AbortSignal): Promise<void> {
  const { db, client, log } = tools
  let page = await findLingeringIntents(db, LINGERING_AFTER_MS)
  while (page.length > 0 && !stopping.aborted) {
    for (const { intent, tier } of page) {
      if (await isRunning(client, intent.id)) continue
      await startIntent(client, db, { intent, tier }, again)
      log.warn({ intent: intent.id }, 'workflow was gone, started again')
    }
    page = await findLingeringIntents(db, LINGERING_AFTER_MS, page.at(-1)?.intent.id)
  }
}

/** Idempotency keys whose time is over. */
async function deleteExpired({ db, log }: SweepTools, stopping: AbortSignal): Promise<void> {
  let deleted = 0
  for (let batch = EXPIRED_BATCH; batch === EXPIRED_BATCH && !stopping.aborted; deleted += batch) {
    batch = await deleteExpiredKeys(db, EXPIRED_BATCH)
  }
  if (deleted > 0) log.info({ deleted }, 'expired idempotency keys deleted')
}

async function isRunning(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe()
    return status.name === 'RUNNING'
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false
    throw error
  }
}
