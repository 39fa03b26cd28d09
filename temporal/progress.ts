import type { Client } from '@temporalio/client'
import type { Progress } from '../domain/intent.js'

/** A reader waits no longer than this for a running workflow: the row says nearly as much. */
const QUERY_DEADLINE_MS = 400
/** Answers are shared for this long: however many clients poll one intent, its workflow is asked once. */
const SHARED_MS = 1_000

export type ReadProgress = (intentId: string) => Promise<Progress | undefined>

/** A reader of the progress of running intents. Undefined: not running, or no answer in time. */
export function createProgressReader(client: Client): ReadProgress {
  const shared = new Map<string, Promise<Progress | undefined>>()
  return (intentId) => {
    const known = shared.get(intentId)
    if (known) return known
    const asked = client
      .withDeadline(Date.now() + QUERY_DEADLINE_MS, () =>
        client.workflow.getHandle(intentId).query<Progress>('progress'),
      )
      .catch(() => undefined)
    shared.set(intentId, asked)
    setTimeout(() => shared.delete(intentId), SHARED_MS).unref()
    return asked
  }
}
