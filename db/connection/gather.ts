import type { Db } from './connect.js'

/**
 * How many calls share a statement: half of those that wait, so that this process works on their answers
 * while the database works on the other half. Up to `FEW_CALLS` go together, and never more than `MAX_CALLS`.
 */
const FEW_CALLS = 8
const MAX_CALLS = 32

type Waiting<Call, Answer> = {
  call: Call
  resolve(answer: Answer | Promise<Answer>): void
  reject(error: unknown): void
}

/** `pauseMs`: nobody is in a hurry, and each statement waits so long for more calls. */
type Pausing = { pauseMs: number }
/** `restMs`: who comes sooner after a statement than that waits for others who do. Whoever comes alone does not. */
type Resting = { restMs: number }

/**
 * Answers calls by as few statements as the load allows: a call alone is sent at once, those that come while
 * a statement is under way share the next one. No call waits longer than for those before it.
 *
 * @param send - Answers calls in their order. A promise among the answers holds up its own call only.
 */
export function gather<Call, Answer>(
  send: (calls: Call[]) => Promise<(Answer | Promise<Answer>)[]>,
  options: Partial<Pausing & Resting> = {},
): (call: Call) => Promise<Answer> {
  const { pauseMs, restMs = pauseMs } = options
  let waiting: Waiting<Call, Answer>[] = []
  let busy = false

  async function sendAll(batch: Waiting<Call, Answer>[]): Promise<void> {
    try {
      const answers = await send(batch.map(({ call }) => call))
      for (const [at, one] of batch.entries()) one.resolve(answers[at] as Answer)
    } catch (error) {
      if (batch.length > 1 && isOwnFault(error)) for (const one of batch) void sendAll([one])
      else for (const one of batch) one.reject(error)
    }
  }

  function next(): void {
    const half = Math.ceil(waiting.length / 2)
    const size = Math.min(Math.max(half, FEW_CALLS), MAX_CALLS)
    const batch = waiting.slice(0, size)
    waiting = waiting.slice(size)
    busy = batch.length > 0
    if (busy) void sendAll(batch).finally(() => after(restMs))
  }

  function after(ms: number | undefined): void {
    if (ms === undefined) next()
    else setTimeout(next, ms)
  }

  return (call) =>
    new Promise((resolve, reject) => {
      waiting.push({ call, resolve, reject })
      if (busy) return
      busy = true
      // After the other requests that the network has brought by now.
      setImmediate(() => {
        after(pauseMs)
      })
    })
}

/** As `gather`, in a line for each name: calls of one name wait for each other, and for nobody else's. */
export function gatherByName<Call, Answer>(
  send: (calls: Call[]) => Promise<Answer[]>,
  options: Partial<Resting> = {},
) {
  const { restMs } = options
  const lines = new Map<string, { ask: (call: Call) => Promise<Answer>; open: number }>()
  const forgetIfEmpty = (name: string) => {
    if (lines.get(name)?.open === 0) lines.delete(name)
  }
  return {
    has: (name: string) => lines.has(name),
    async add(name: string, call: Call): Promise<Answer> {
      const line = lines.get(name) ?? { ask: gather(send, options), open: 0 }
      lines.set(name, line)
      line.open += 1
      try {
        return await line.ask(call)
      } finally {
        line.open -= 1
        // While it rests it is waited for.
        if (restMs === undefined) forgetIfEmpty(name)
        else setTimeout(forgetIfEmpty, restMs, name)
      }
    },
  }
}

/** A value or a row that the database or a function of ours refuses: one call's fault, which the others must not share. */
const isOwnFault = (error: unknown) =>
  /^(2[23]|P0001)/.test(String((error as { code?: unknown }).code))

/** What `make` makes for a pool or a transaction, once for each. */
export function perPool<Made>(make: (db: Db) => Made): (db: Db) => Made {
  const made = new WeakMap<Db, Made>()
  return (db) => {
    const known = made.get(db)
    if (known) return known
    const fresh = make(db)
    made.set(db, fresh)
    return fresh
  }
}

/**
 * Reads what is the same for everybody: those who ask while a statement is under way share the next one, so that
 * nobody is told what was so before he asked. What comes back is shared, and nobody may change it.
 */
export function readTogether<Answer>(read: (db: Db) => PromiseLike<Answer>) {
  const lineOf = perPool((db) =>
    gather(async (calls: object[]) => {
      const answer = await read(db)
      return calls.map(() => answer)
    }),
  )
  return (db: Db): Promise<Answer> => lineOf(db)({})
}
