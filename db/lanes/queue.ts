import type { Listener } from '../connection/listen.js'
import type { OperationState } from '../../domain/operation.js'

/** What gives the signer work: an order, and what is mined, for which another one may have waited. */
export const signerStates: OperationState[] = ['queued', 'mined']

/**
 * Announces work: the returned function resolves when an operation reaches one of the states, at the
 * latest after the given milliseconds. Call it before looking at the rows and await it afterwards, so
 * that nothing announced in between is missed. Any number of loops may wait.
 */
export function watchQueue(
  listener: Listener,
  stopping: AbortSignal,
  states: readonly string[],
): (timeoutMs: number) => Promise<void> {
  const waiting = new Set<() => void>()
  const announce = () => {
    for (const wake of waiting) wake()
  }
  stopping.addEventListener('abort', announce)
  listener.subscribe((change) => {
    if (!change || states.includes(change.state)) announce()
  })
  return (timeoutMs) =>
    new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, timeoutMs)
      waiting.add(wake)
      if (stopping.aborted) wake()
    })
}
