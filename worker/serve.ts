import { setTimeout as sleep } from 'node:timers/promises'
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import type { Log } from '../log.js'
import type { Presence } from './presence.js'

/** A worker that ends at once shall not be made anew at once. */
const AGAIN_MS = 5_000

type Service = { address: string; options: WorkerOptions; temporal: Presence; log: Log }

/**
 * Runs workflows and activities until the signal aborts: once Temporal is there, and again when the worker has
 * ended, as it does when the server refuses it for a minute, because it has lost its namespace, say.
 */
export async function serveTasks(service: Service, stopping: AbortSignal): Promise<void> {
  const { temporal, log } = service
  for (;;) {
    await temporal.untilThere()
    if (stopping.aborted) return
    await runWorker(service, stopping).catch((error: unknown) => {
      log.error({ err: error }, 'the Temporal worker ended, another one follows')
    })
    await sleep(AGAIN_MS, undefined, { signal: stopping }).catch(() => undefined)
  }
}

async function runWorker({ address, options }: Service, stopping: AbortSignal): Promise<void> {
  const connection = await NativeConnection.connect({ address })
  try {
    const worker = await Worker.create({ ...options, connection })
    const running = worker.run()
    const stop = () => {
      if (worker.getState() === 'RUNNING') worker.shutdown()
    }
    stopping.addEventListener('abort', stop)
    if (stopping.aborted) stop()
    await running.finally(() => {
      stopping.removeEventListener('abort', stop)
    })
  } finally {
    await connection.close()
  }
}
