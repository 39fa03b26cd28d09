import { createCache } from '../../runtime/cache.js'
import type { Client } from '@temporalio/client'
import type { Progress } from '../../domain/intent/intent.js'

/** Age up to which an answer is shared, so that many clients of one intent cause one query. */
const PROGRESS_TTL_MS = 1_000

/** Deadline of a query. The row holds nearly the same facts, so a longer wait is not worthwhile. */
const QUERY_MS = 400

export type ReadProgress = (intentId: string) => Promise<Progress | undefined>

/** Creates a reader of the progress of running intents. It returns undefined without an answer in time. */
export function createProgressReader(client: Client): ReadProgress {
  const query = (intentId: string) =>
    client.withDeadline(Date.now() + QUERY_MS, () =>
      client.workflow.getHandle(intentId).query<Progress>('progress'),
    )
  return createCache((intentId) => query(intentId).catch(() => undefined), {
    ttlMs: PROGRESS_TTL_MS,
  })
}
