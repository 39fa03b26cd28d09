/** Waiting time of test files outside of their tests. */
export type Kind = 'chain' | 'database' | 'temporal' | 'stack'
/** Milliseconds by kind. */
export type Spent = Partial<Record<Kind, number>>

let spent: Spent = {}
let depth = 0

/** Counts the time of `start` as waiting for a kind of fixture. Nested starts count as part of it. */
export async function timed<T>(kind: Kind, start: () => Promise<T>): Promise<T> {
  if (depth > 0) return start()
  depth += 1
  const begun = performance.now()
  try {
    return await start()
  } finally {
    depth -= 1
    spent[kind] = (spent[kind] ?? 0) + performance.now() - begun
  }
}

/** The time spent since the last call. */
export function takeSpent(): Spent {
  const taken = spent
  spent = {}
  return taken
}
