export type CacheOptions<Key> = {
  /** Age at which an answer expires, counted from the start of its load. Absent: never. */
  ttlMs?: number
  /** Entries that are kept at most. Beyond it the oldest is dropped. */
  max?: number
  /** Tells keys apart that are objects. Absent: the key itself. */
  keyOf?: (key: Key) => unknown
}

type Entry<Value> = { value: Promise<Value>; expiresAt: number }

const USUAL_MAX = 10_000

/**
 * Loads each key once and shares the answer, also with callers that come while it is being loaded. A failure reaches
 * the callers that wait for it and is not kept.
 *
 * @returns Reads a key.
 */
export function createCache<Key, Value>(
  load: (key: Key) => Promise<Value>,
  { ttlMs = Infinity, max = USUAL_MAX, keyOf = (key) => key }: CacheOptions<Key> = {},
): (key: Key) => Promise<Value> {
  /** In the order of their loads, so that the first one expires first. */
  const entries = new Map<unknown, Entry<Value>>()

  function dropOld(now: number): void {
    for (const [id, { expiresAt }] of entries) {
      if (now < expiresAt && entries.size < max) return
      entries.delete(id)
    }
  }

  return (key) => {
    const id = keyOf(key)
    const now = Date.now()
    const known = entries.get(id)
    if (known && now < known.expiresAt) return known.value
    entries.delete(id)
    dropOld(now)
    const value = load(key)
    entries.set(id, { value, expiresAt: now + ttlMs })
    value.catch(() => {
      if (entries.get(id)?.value === value) entries.delete(id)
    })
    return value
  }
}
