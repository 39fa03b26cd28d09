/** How long an answer is shared, and a failure, in ms; and of how many keys at most. */
export type Sharing = { ttlMs: number; failureTtlMs?: number; maxKeys?: number }

type Entry<Answer> = { answer: Promise<Answer>; until: number }

/** Many more than are asked about at once; what a key and its answer take is small. */
const MAX_KEYS = 10_000

/**
 * Asks once per key and shares the answer, counted from the question: however many want to know, before it is
 * there or after, one question goes out. A failure is told to those who wait for it; unless `failureTtlMs` says
 * otherwise, whoever comes later asks again.
 */
export function share<Key, Answer>(
  ask: (key: Key) => Promise<Answer>,
  { ttlMs, failureTtlMs = 0, maxKeys = MAX_KEYS }: Sharing,
): (key: Key) => Promise<Answer> {
  /** The oldest question comes first. */
  const entries = new Map<Key, Entry<Answer>>()
  return (key) => {
    const now = Date.now()
    const known = entries.get(key)
    if (known && now < known.until) return known.answer
    entries.delete(key)
    forget(entries, now, maxKeys)
    const entry = { answer: ask(key), until: now + ttlMs }
    entries.set(key, entry)
    entry.answer.catch(() => {
      entry.until = Math.min(entry.until, Date.now() + failureTtlMs)
    })
    return entry.answer
  }
}

/** Drops what is over, and the oldest where there is no room for another one. */
function forget<Key>(entries: Map<Key, { until: number }>, now: number, maxKeys: number): void {
  for (const [key, { until }] of entries) {
    if (now < until && entries.size < maxKeys) return
    entries.delete(key)
  }
}
