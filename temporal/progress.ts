import { createCache } from '../cache.js'
import type { Client } from '@temporalio/client'
import type { Progress } from '../domain/intent.js'

/** Answers are shared for this long: however many clients poll one intent, its workflow is asked once. */
const PROGRESS_TTL_MS = 1_000

/** The row says nearly as much as the workflow, so that a reader waits no longer for it. */
const QUERY_MS = 400

export type ReadProgress = (intentId: string) => Promise<Progress | undefined>

/** A reader of the progress of running intents. Undefined: not running, or no answer in time. */
export function createProgressReader(client: Client): ReadProgress {
  const query = (intentId: string) =>
    client.withDeadline(Date.now() + QUERY_MS, () =>
      client.workflow.getHandle(intentId).query<Progress>('progress'),
    )
  return createCache((intentId) => query(intentId).catch(() => undefined), {
    ttlMs: PROGRESS_TTL_MS,
  })
}
