import { share } from '../share.js'
import type { Client } from '@temporalio/client'
import type { Progress } from '../domain/intent.js'

/** Answers are shared for this long: however many clients poll one intent, its workflow is asked once. */
const PROGRESS_TTL_MS = 1_000

export type ReadProgress = (intentId: string) => Promise<Progress | undefined>

/** A reader of the progress of running intents. Undefined: not running, or no answer in time. */
export function createProgressReader(client: Client): ReadProgress {
  const query = (intentId: string) =>
    client.workflow.getHandle(intentId).query<Progress>('progress')
  return share((intentId) => query(intentId).catch(() => undefined), { ttlMs: PROGRESS_TTL_MS })
}
