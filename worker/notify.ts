import { setTimeout as sleep } from 'node:timers/promises'
import { WorkflowNotFoundError, type Client } from '@temporalio/client'
import { createNotifier } from '../runtime/notifier.js'
import { faultPoint } from '../runtime/faultPoints.js'
import { claimSettled, deleteAwaited, type SettledWait } from '../operations/awaited.js'
import { SETTLED } from '../domain/intent/waitReason.js'
import { isSettledState } from '../operations/watchOutcomes.js'
import { CALL_MS } from '../workflows/client/connect.js'
import { MAX_NOTIFY_WAIT_MS } from '../runtime/durations.js'
import type { Db } from '../db/client/connect.js'
import type { Listener } from '../db/client/listen.js'
import type { Log } from '../runtime/log.js'

/**
 * Concurrent signals, and the delay after each batch. Faster signals would only queue in Temporal: a worker with two
 * cores completes about 20 steps per second.
 */
const [AT_ONCE, PAUSE_MS] = [10, 250]

type NotifyTools = { db: Db; client: Client; log: Log; stopping: AbortSignal }

/** Signals workflows as soon as a commit settles their awaited operation, until `stopping` aborts. */
export async function notifyWorkflows(tools: NotifyTools, listener: Listener): Promise<void> {
  const { log, stopping } = tools
  const settled = new Set<string>()
  const notifier = createNotifier()
  listener.subscribe((change) => {
    if (!change?.id || !isSettledState(change.state)) return
    settled.add(change.id)
    notifier.notify()
  })
  while (!stopping.aborted) {
    await notifier.wait(MAX_NOTIFY_WAIT_MS, stopping)
    const ids = [...settled]
    settled.clear()
    if (ids.length === 0) continue
    await signalSettled(tools, ids).catch((error: unknown) => {
      log.warn({ err: error }, 'settled steps not signalled')
    })
    // Operations that settle meanwhile share the next statement.
    await sleep(PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/**
 * Signals the workflows whose awaited operations are settled. Returns when none is left or Temporal does not answer.
 *
 * @param ids - Operation ids; null for all operations.
 */
export async function signalSettled(
  { db, client, log, stopping }: NotifyTools,
  ids: string[] | null,
): Promise<void> {
  let signalled = 0
  while (!stopping.aborted) {
    const waits = await claimSettled(db, ids, AT_ONCE)
    if (waits.length === 0) break
    faultPoint('worker: before the signal')
    const reached = await Promise.all(waits.map((wait) => signal(client, wait)))
    faultPoint('worker: signalled, still marked')
    const done = waits.filter((_, i) => reached[i])
    await deleteAwaited(db, done)
    signalled += done.length
    if (done.length < waits.length || waits.length < AT_ONCE) break
    await sleep(PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined)
  }
  if (signalled > 0) log.debug({ steps: signalled }, 'settled steps signalled')
}

/** @returns True when the workflow has received the signal or has ended. */
async function signal(client: Client, { workflowId }: SettledWait): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + CALL_MS, () =>
      client.workflow.getHandle(workflowId).signal(SETTLED),
    )
    return true
  } catch (error) {
    return error instanceof WorkflowNotFoundError
  }
}
