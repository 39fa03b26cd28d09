import { setTimeout as sleep } from 'node:timers/promises'
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import { backoffMs, MAX_NOTIFY_WAIT_MS, MINUTE_MS } from '../runtime/durations.js'
import type { Log } from '../runtime/log.js'
import type { Presence } from './presence.js'

type WorkerService = {
  address: string
  options: WorkerOptions
  temporal: Presence
  log: Log
  /** Work that shares the connection of each worker. It ends when its signal aborts. */
  beside?: (connection: NativeConnection, stopping: AbortSignal) => Promise<void>
}

/**
 * Runs workflows and activities until the signal aborts. Waits for Temporal, and creates a new worker after one has
 * failed. A worker fails when the server rejects it for a minute, for example because its namespace is missing.
 */
export async function serveTasks(service: WorkerService, stopping: AbortSignal): Promise<void> {
  const { temporal, log } = service
  for (let failures = 1; ; failures++) {
    await temporal.untilThere()
    if (stopping.aborted) return
    const begun = Date.now()
    await runWorker(service, stopping).catch((error: unknown) => {
      log.error({ err: error }, 'Temporal worker failed, restarting')
    })
    if (Date.now() - begun > MINUTE_MS) failures = 1
    await sleep(backoffMs(failures), undefined, { signal: stopping }).catch(() => undefined)
  }
}

async function runWorker(
  { address, options, beside }: WorkerService,
  stopping: AbortSignal,
): Promise<void> {
  const connection = await NativeConnection.connect({ address })
  const ended = new AbortController()
  let work: Promise<void> | undefined
  try {
    const worker = await Worker.create({ ...options, connection })
    const running = worker.run()
    work = beside?.(connection, AbortSignal.any([stopping, ended.signal]))
    const stop = async () => {
      // Work that has begun needs this worker until it ends.
      await work
      if (worker.getState() === 'RUNNING') worker.shutdown()
    }
    stopping.addEventListener('abort', () => void stop(), { signal: ended.signal })
    if (stopping.aborted) void stop()
    await Promise.race([running, untilFailed(worker, ended.signal)])
  } finally {
    ended.abort()
    await work
    // A failed worker does not release the connection.
    await connection.close().catch(() => undefined)
  }
}

/** Throws when the worker has failed. SDK 1.24 does not reject `run` then: it waits forever for polls that have ended. */
async function untilFailed(worker: Worker, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    if (worker.getState() === 'FAILED') throw new Error('Temporal rejected the worker.')
    await sleep(MAX_NOTIFY_WAIT_MS, undefined, { signal: ended }).catch(() => undefined)
  }
}
