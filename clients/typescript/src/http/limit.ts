/** Maximum delay of a timer. Longer waits have no limit. */
const MOST_MS = 2 ** 31 - 1

/** A signal that aborts after `timeoutMs`, or when the outer signal aborts. */
export function limitTime(timeoutMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController()
  let isOver = false
  const end = () => {
    isOver = true
    controller.abort()
  }
  const timer = timeoutMs > MOST_MS ? undefined : setTimeout(end, timeoutMs)
  const stop = () => controller.abort(outer?.reason)
  if (outer?.aborted) stop()
  outer?.addEventListener('abort', stop)
  return {
    signal: controller.signal,
    /** Whether the time has passed. */
    isOver: () => isOver,
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', stop)
    },
  }
}
