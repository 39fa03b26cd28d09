import { ServiceError } from '../../domain/errors.js'

/** `share`: of one name; `width`: of all of them; `patienceMs`: what has not begun by then is given up. */
type Bounds = { share: number; width?: number; patienceMs: number }

type Line = { running: number; waiting: Set<() => void> }

/** Does work when it is its turn. */
export type Turns = {
  /** @throws {ServiceError} UNAVAILABLE when the turn has not come in time, and whatever the work throws. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>
}

/**
 * Lets so much work of each name run at once, and so much of all. What waits goes on name by name, so that whoever
 * brings much of it waits for his own.
 */
export function createTurns({ share, width = Infinity, patienceMs }: Bounds): Turns {
  const lines = new Map<string, Line>()
  let running = 0
  let whenIdle: (() => void)[] = []

  /** A name that had its turn goes to the end, where the loop comes by again. */
  function goOn(): void {
    for (const [name, line] of lines) {
      if (running >= width) return
      const [begin] = line.waiting
      if (!begin || line.running >= share) continue
      lines.delete(name)
      lines.set(name, line)
      line.waiting.delete(begin)
      line.running += 1
      running += 1
      begin()
    }
  }

  function leave(name: string, line: Line): void {
    if (line.running === 0 && line.waiting.size === 0) lines.delete(name)
    if (lines.size > 0) return
    for (const resolve of whenIdle.splice(0)) resolve()
  }

  const turnOf = (name: string, line: Line) =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        line.waiting.delete(begin)
        leave(name, line)
        reject(new ServiceError('UNAVAILABLE', 'Too much is asked for at once. Try again.'))
      }, patienceMs)
      line.waiting.add(begin)
      goOn()
    })

  return {
    async run(name, work) {
      const line = lines.get(name) ?? { running: 0, waiting: new Set() }
      lines.set(name, line)
      await turnOf(name, line)
      try {
        return await work()
      } finally {
        line.running -= 1
        running -= 1
        goOn()
        leave(name, line)
      }
    },
    idle: () =>
      lines.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenIdle = [...whenIdle, resolve]
          }),
  }
}
