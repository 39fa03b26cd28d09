/** `atOnce`: concurrent calls of one key. `patienceMs`: longest wait of a queued call. */
export type Limits = { atOnce: number; patienceMs: number }

type KeyQueue = { running: number; waiting: Set<() => void> }

/**
 * Limits the concurrent calls of one key. Further calls wait in order, and occupy no resources of other keys.
 *
 * @param refuse - Creates the error of a call that has waited for `patienceMs`.
 */
export function createLimiter({ atOnce, patienceMs }: Limits, refuse: () => Error) {
  const queues = new Map<string, KeyQueue>()

  function waitForTurn({ waiting }: KeyQueue): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        waiting.delete(begin)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(begin)
        reject(refuse())
      }, patienceMs)
      waiting.add(begin)
    })
  }

  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const queue = queues.get(key) ?? { running: 0, waiting: new Set() }
    queues.set(key, queue)
    if (queue.running < atOnce) queue.running += 1
    else await waitForTurn(queue)
    try {
      return await work()
    } finally {
      const [next] = queue.waiting
      // Pass the slot to the next call directly, so that no new call overtakes it.
      if (next) next()
      else queue.running -= 1
      if (queue.running === 0) queues.delete(key)
    }
  }
}
