import type { Listener, OperationChange } from '../db/client/listen.js'
import type { OperationState } from '../domain/intent/operation.js'

/**
 * States that create work for the signer: a new order, and a mined operation for which another one may have waited.
 * Chains with one confirmation go directly to `confirmed`.
 */
export const signerStates: OperationState[] = ['queued', 'mined', 'confirmed']

/**
 * Resolves when there may be work, on the given chain if any, or after the timeout in milliseconds. Returns the new state
 * of the operation, where known.
 */
export type NextWork = (timeoutMs: number, chainId?: number) => Promise<string | undefined>

/**
 * Waits for work: the returned function resolves when an operation reaches one of the states. Call it before reading the
 * rows and await it afterwards, so that no notification in between is missed. Several loops may wait. A change on a
 * chain wakes the loops of that chain and of all chains.
 */
export function watchQueue(
  listener: Listener,
  stopping: AbortSignal,
  states: readonly string[],
): NextWork {
  const waiting = new Map<(state?: string) => void, number | undefined>()
  const announce = ({ state, chainId }: Partial<OperationChange> = {}) => {
    for (const [wake, of] of waiting) {
      if (chainId === undefined || of === undefined || of === chainId) wake(state)
    }
  }
  stopping.addEventListener('abort', () => announce())
  listener.subscribe((change) => {
    if (!change || states.includes(change.state)) announce(change)
  })
  return (timeoutMs, chainId) =>
    new Promise((resolve) => {
      const wake = (state?: string) => {
        clearTimeout(timer)
        waiting.delete(wake)
        resolve(state)
      }
      const timer = setTimeout(() => wake(), timeoutMs)
      waiting.set(wake, chainId)
      if (stopping.aborted) wake()
    })
}
