import { setTimeout as sleep } from 'node:timers/promises'
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import { backoffMs, LOOK_MS, MINUTE_MS } from '../durations.js'
import type { Log } from '../log.js'
import type { Presence } from './presence.js'

type Service = {
  address: string
  options: WorkerOptions
  temporal: Presence
  log: Log
  /** What goes on by the connection of each worker, until it is told to stop. */
  beside?: (connection: NativeConnection, stopping: AbortSignal) => Promise<void>
}

/**
 * Runs workflows and activities until the signal aborts: once Temporal is there, and again when the worker has
 * ended, as it does when the server refuses it for a minute, because it has lost its namespace, say.
 */
export async function serveTasks(service: Service, stopping: AbortSignal): Promise<void> {
  const { temporal, log } = service
  for (let failures = 1; ; failures++) {
    await temporal.untilThere()
    if (stopping.aborted) return
    const begun = Date.now()
    await runWorker(service, stopping).catch((error: unknown) => {
      log.error({ err: error }, 'the Temporal worker ended, another one follows')
    })
    if (Date.now() - begun > MINUTE_MS) failures = 1
    await sleep(backoffMs(failures), undefined, { signal: stopping }).catch(() => undefined)
  }
}

async function runWorker(
  { address, options, beside }: Service,
  stopping: AbortSignal,
): Promise<void> {
  const connection = await NativeConnection.connect({ address })
  const over = new AbortController()
  let work: Promise<void> | undefined
  try {
    const worker = await Worker.create({ ...options, connection })
    const running = worker.run()
    work = beside?.(connection, AbortSignal.any([stopping, over.signal]))
    const stop = async () => {
      // What is begun in this worker has its place there until it ends.
      await work
      if (worker.getState() === 'RUNNING') worker.shutdown()
    }
    stopping.addEventListener('abort', () => void stop(), { signal: over.signal })
    if (stopping.aborted) void stop()
    await Promise.race([running, untilFailed(worker, over.signal)])
  } finally {
    over.abort()
    await work
    // A worker that has failed does not give it back.
    await connection.close().catch(() => undefined)
  }
}

/** Throws when the worker has failed: SDK 1.24 then waits in `run` for ever for polls that have ended. */
async function untilFailed(worker: Worker, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    if (worker.getState() === 'FAILED') throw new Error('Temporal refuses the worker.')
    await sleep(LOOK_MS, undefined, { signal: over }).catch(() => undefined)
  }
}
