/** `atOnce`: calls of one key that run at the same time; `patienceMs`: how long a call waits for its turn. */
export type Limits = { atOnce: number; patienceMs: number }

type Line = { running: number; waiting: Set<() => void> }

/**
 * Limits how many calls of one key run at once. The others wait in their order, so that they take no resources that
 * calls of other keys need.
 *
 * @param refuse - Makes the error of a call whose turn does not come in time.
 */
export function createLimiter({ atOnce, patienceMs }: Limits, refuse: () => Error) {
  const lines = new Map<string, Line>()

  function waitForTurn({ waiting }: Line): Promise<void> {
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
    const line = lines.get(key) ?? { running: 0, waiting: new Set() }
    lines.set(key, line)
    if (line.running < atOnce) line.running += 1
    else await waitForTurn(line)
    try {
      return await work()
    } finally {
      const [next] = line.waiting
      // The next call takes over the place, so that none comes in between.
      if (next) next()
      else line.running -= 1
      if (line.running === 0) lines.delete(key)
    }
  }
}
