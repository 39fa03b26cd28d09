import { setTimeout as sleep } from 'node:timers/promises'

/** Wakes whoever waits for it. Rung while nobody waits, it wakes the next one at once. */
export type Bell = {
  ring(): void
  /** Resolves when it is rung, after `ms`, or when the signal aborts. */
  wait(ms: number, stopping: AbortSignal): Promise<void>
}

export function createBell(): Bell {
  let rung = new AbortController()
  return {
    ring() {
      rung.abort()
    },
    async wait(ms, stopping) {
      await sleep(ms, undefined, { signal: AbortSignal.any([rung.signal, stopping]) }).catch(
        () => undefined,
      )
      rung = new AbortController()
    },
  }
}
