import type { Listener } from '../db/listen.js'

/**
 * Announces work for one loop: the returned function resolves when an operation reached one of the
 * states since its last call, at the latest after the given milliseconds.
 */
export function watchQueue(
  listener: Listener,
  stopping: AbortSignal,
  states: string[],
): (timeoutMs: number) => Promise<void> {
  let changed = false
  let wake: (() => void) | undefined
  const announce = () => {
    changed = true
    wake?.()
  }
  stopping.addEventListener('abort', announce)
  listener.subscribe((change) => {
    if (!change || states.includes(change.state)) announce()
  })
  return (timeoutMs) =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        changed = false
        wake = undefined
        resolve()
      }
      const timer = setTimeout(done, timeoutMs)
      wake = done
      if (changed || stopping.aborted) done()
    })
}
