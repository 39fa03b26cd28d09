/** Wakes one waiting loop. A notification without a waiting loop resolves the next wait at once. */
export type Notifier = {
  notify(): void
  /**
   * Resolves when notified, after `ms`, or when the signal aborts.
   *
   * @returns Whether there was a notification, during this wait or since the last one.
   */
  wait(ms: number, stopping: AbortSignal): Promise<boolean>
}

export function createNotifier(): Notifier {
  let isRung = false
  let wake: (() => void) | undefined
  return {
    notify() {
      isRung = true
      wake?.()
    },
    async wait(ms, stopping) {
      if (!isRung && !stopping.aborted) {
        // AbortSignal.any would leave a reference at each source, and `stopping` lives as long as the process.
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
