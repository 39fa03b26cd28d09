/** What a timer can count; waits for longer are not limited. */
const MOST_MS = 2 ** 31 - 1

/** A signal that is aborted after some time, or when the outer one is. */
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
    /** Whether the time is. */
    isOver: () => isOver,
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', stop)
    },
  }
}
