import type { Log } from './log.js'

/** A stop that takes longer than this is ended: whoever supervises the process starts it again. */
const STOP_MS = 30_000

/**
 * Makes a process stop well: on SIGTERM and SIGINT, and when the parent that holds its IPC channel is
 * gone. An unexpected error stops it too, so that nothing goes on half alive.
 *
 * @returns `stopping`, which aborts when the process shall end; `ready`, to be called once it serves; and
 *   `onStop`, whose callbacks run one after the other in the reverse order of their registration.
 */
export function superviseProcess(log: Log) {
  const stopping = new AbortController()
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
