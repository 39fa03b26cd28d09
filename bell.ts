/** Wakes whoever waits for it, one at a time. Rung while nobody waits, it wakes the next one at once. */
export type Bell = {
  ring(): void
  /**
   * Resolves when it is rung, after `ms`, or when the signal aborts.
   *
   * @returns Whether it was rung, now or since it was waited for last.
   */
  wait(ms: number, stopping: AbortSignal): Promise<boolean>
}

export function createBell(): Bell {
  let isRung = false
  let wake: (() => void) | undefined
  return {
    ring() {
      isRung = true
      wake?.()
    },
    async wait(ms, stopping) {
      if (!isRung && !stopping.aborted) {
        // Not by AbortSignal.any: what it makes leaves a trace at each source, and `stopping` lives as long as the process.
        await new Promise<void>((resolve) => {
          const end = () => {
            clearTimeout(timer)
            stopping.removeEventListener('abort', end)
            resolve()
          }
          const timer = setTimeout(end, ms).unref()
          stopping.addEventListener('abort', end)
          wake = end
        })
      }
      wake = undefined
      const wasRung = isRung
      isRung = false
      return wasRung
    },
  }
}
