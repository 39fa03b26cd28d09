import { setMaxListeners } from 'node:events'
import type { Log } from './log.js'

/** Longest duration of a graceful stop. After it the process exits, and its supervisor restarts it. */
const STOP_MS = 30_000

/**
 * Limit above which Node warns of a listener leak. Listeners of `stopping` are the running activities of a worker and a
 * few loops per chain. All of them unsubscribe when they end.
 */
const MAX_LISTENERS = 5_100

/**
 * Installs the graceful stop of a process: on SIGTERM, SIGINT, and when the parent with its IPC channel exits. An
 * unexpected error stops the process too.
 *
 * @returns `stopping` aborts when the process must stop. Call `ready` once the process serves. Callbacks of `onStop` run
 *   sequentially, in the reverse order of their registration.
 */
export function runProcess(log: Log) {
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
        log.warn({ err: error }, 'stop callback failed')
      })
    }
    process.exit(exitCode)
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void stop(signal, 0))
  }
  process.once('disconnect', () => void stop('parent exited', 0))
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
