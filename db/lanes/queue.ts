import type { Listener, OperationChange } from '../connection/listen.js'
import type { OperationState } from '../../domain/operation.js'

/**
 * What gives the signer work: an order, and what is mined, for which another one may have waited. Where one block
 * confirms, what it brings is confirmed at once.
 */
export const signerStates: OperationState[] = ['queued', 'mined', 'confirmed']

/**
 * Resolves when there may be work, on that chain where one is named; at the latest after the given milliseconds. With
 * the state that an operation has reached, where one is known to have.
 */
export type NextWork = (timeoutMs: number, chainId?: number) => Promise<string | undefined>

/**
 * Announces work: the returned function resolves when an operation reaches one of the states. Call it before looking
 * at the rows and await it afterwards, so that nothing announced in between is missed. Any number of loops may wait,
 * and what a chain brings wakes those who wait for it or for any.
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
