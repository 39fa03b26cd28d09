import { setMaxListeners } from 'node:events'
import type { Log } from './log.js'

/** A stop that takes longer than this is ended: whoever supervises the process starts it again. */
const STOP_MS = 30_000

/**
 * To `stopping` listen each loop that waits, a handful for each chain, and each running activity, of which a worker
 * takes up to 5,000. All of them cease when they end, so that more of them are a leak, of which Node warns.
 */
const MAX_LISTENERS = 5_100

/**
 * Makes a process stop well: on SIGTERM and SIGINT, and when the parent that holds its IPC channel is
 * gone. An unexpected error stops it too, so that nothing goes on half alive.
 *
 * @returns `stopping`, which aborts when the process shall end; `ready`, to be called once it serves; and
 *   `onStop`, whose callbacks run one after the other in the reverse order of their registration.
 */
export function superviseProcess(log: Log) {
  const stopping = new AbortController()
  setMaxListeners(MAX_LISTENERS, stopping.signal)
  const callbacks: (() => Promise<unknown>)[] = []

  async function stop(reason: string, exitCode: number): Promise<void> {
    if (stopping.signal.aborted) return
    stopping.abort()
    log.info({ reason }, 'stopping')
    setTimeout(() => process.exit(1), STOP_MS).unref()
    for (const callback of callbacks.reverse()) {
      await callback().catch((error: unknown) => {
        log.warn({ err: error }, 'stopping failed in part')
      })
    }
    process.exit(exitCode)
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void stop(signal, 0))
  }
  process.once('disconnect', () => void stop('parent is gone', 0))
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, 'unexpected error')
      void stop(event, 1)
    })
  }

  return {
    stopping: stopping.signal,
    onStop: (callback: () => Promise<unknown>) => {
      callbacks.push(callback)
    },
    ready: (facts: object) => {
      log.info(facts, `${log.bindings().name as string} ready`)
      process.send?.({ type: 'ready' })
    },
  }
}
