/** `atOnce`: calls of one key that run at the same time; `waiting`: calls of one key that wait behind them. */
export type Limits = { atOnce: number; waiting: number }

type Line = { running: number; waiting: (() => void)[] }

/**
 * Limits how many calls of one key run at once. The others wait in their order, so that they take no resources that
 * calls of other keys need.
 *
 * @param refuse - Makes the error of a call that finds too many waiting.
 */
export function createLimiter({ atOnce, waiting: mostWaiting }: Limits, refuse: () => Error) {
  const lines = new Map<string, Line>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? { running: 0, waiting: [] }
    lines.set(key, line)
    if (line.running < atOnce) line.running += 1
    else {
      if (line.waiting.length >= mostWaiting) throw refuse()
      await new Promise<void>((resolve) => line.waiting.push(resolve))
    }
    try {
      return await work()
    } finally {
      const next = line.waiting.shift()
      // The next call takes over the place, so that none comes in between.
      if (next) next()
      else line.running -= 1
      if (line.running === 0) lines.delete(key)
    }
  }
}
