import { ServiceError } from '../../domain/errors.js'

/** `share`: of one name; `width`: of all of them; `patienceMs`: what has not begun by then is given up. */
type Bounds = { share: number; width?: number; patienceMs: number }

type Line = { running: number; waiting: Set<() => void> }

/** Does work when it is its turn. */
export type Turns = {
  /** @throws {ServiceError} UNAVAILABLE when the turn has not come in time, and whatever the work throws. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>
}

/**
 * Lets so much work of each name run at once, and so much of all. What waits goes on name by name, so that whoever
 * brings much of it waits for his own.
 */
export function createTurns({ patienceMs, ...bounds }: Bounds): Turns {
  const queue = createQueue(bounds)
  return {
    async run(name, work) {
      await beginInTime(queue, name, patienceMs)
      try {
        return await work()
      } finally {
        queue.end(name)
      }
    },
  }
}

type Queue = ReturnType<typeof createQueue>

function beginInTime({ add, remove }: Queue, name: string, patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      remove(name, begin)
      reject(new ServiceError('UNAVAILABLE', 'Too much is asked for at once. Try again.'))
    }, patienceMs)
    const begin = () => {
      clearTimeout(timer)
      resolve()
    }
    add(name, begin)
  })
}

/** What runs and what waits, by name. */
function createQueue({ share, width = Infinity }: Omit<Bounds, 'patienceMs'>) {
  const lines = new Map<string, Line>()
  let running = 0

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

  function forgetEmpty(name: string): void {
    const line = lines.get(name)
    if (line?.running === 0 && line.waiting.size === 0) lines.delete(name)
  }

  return {
    add(name: string, begin: () => void): void {
      const line = lines.get(name) ?? { running: 0, waiting: new Set() }
      lines.set(name, line)
      line.waiting.add(begin)
      goOn()
    },
    remove(name: string, begin: () => void): void {
      lines.get(name)?.waiting.delete(begin)
      forgetEmpty(name)
    },
    end(name: string): void {
      const line = lines.get(name)
      if (line) line.running -= 1
      running -= 1
      goOn()
      forgetEmpty(name)
    },
  }
}
