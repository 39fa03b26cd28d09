import { setTimeout as sleep } from 'node:timers/promises'
import { WorkflowNotFoundError, type Client } from '@temporalio/client'
import { findUndispatchedFundings } from '../db/fundings.js'
import { findLingeringIntents, findUndispatchedIntents } from '../db/intents.js'
import { again, startFunding, startIntent } from '../temporal/start.js'
import type { Db } from '../db/connect.js'
import type { Log } from '../log.js'

export type SweepTools = { db: Db; client: Client; decimals: number; log: Log }

const UNDISPATCHED_EVERY_MS = 2_000
/** The API starts workflows itself; what is older than this it did not manage to. */
const UNDISPATCHED_AFTER_MS = 5_000
const LINGERING_EVERY_MS = 60_000
const LINGERING_AFTER_MS = 60_000

/** Starts workflows that should run and do not, until the signal aborts. */
export async function runSweepers(tools: SweepTools, stopping: AbortSignal): Promise<void> {
  await Promise.all([
    every(UNDISPATCHED_EVERY_MS, tools, stopping, startUndispatched),
    every(LINGERING_EVERY_MS, tools, stopping, restartLingering),
  ])
}

async function every(
  ms: number,
  tools: SweepTools,
  stopping: AbortSignal,
  sweep: (tools: SweepTools) => Promise<void>,
): Promise<void> {
  while (!stopping.aborted) {
    await sweep(tools).catch((error: unknown) => {
      tools.log.warn({ err: error }, 'sweep failed')
    })
    await sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** Rows that were stored while Temporal was away, or whose process died right after. */
async function startUndispatched(tools: SweepTools): Promise<void> {
  const { db, client, decimals, log } = tools
  for (const { intent, plan } of await findUndispatchedIntents(db, UNDISPATCHED_AFTER_MS)) {
    await startIntent(client, db, { intent, plan, decimals })
    log.info({ intent: intent.id }, 'workflow started late')
  }
  for (const funding of await findUndispatchedFundings(db, UNDISPATCHED_AFTER_MS)) {
    await startFunding(client, db, funding)
    log.info({ funding: funding.id }, 'workflow started late')
  }
}

/** Intents whose run was terminated, or lost with Temporal's database: the rows say where to go on. */
async function restartLingering({ db, client, decimals, log }: SweepTools): Promise<void> {
  for (const { intent, plan } of await findLingeringIntents(db, LINGERING_AFTER_MS)) {
    if (await isRunning(client, intent.id)) continue
    await startIntent(client, db, { intent, plan, decimals }, again)
    log.warn({ intent: intent.id }, 'workflow was gone, started again')
  }
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
