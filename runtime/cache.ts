export type CacheOptions<Key> = {
  /** Age at which an entry expires, counted from the start of its load. Absent: never. */
  ttlMs?: number
  /** Maximum number of entries. The oldest one is dropped first. */
  max?: number
  /** Identity of a key that is an object. Absent: the key itself. */
  keyOf?: (key: Key) => unknown
}

type CacheEntry<Value> = { value: Promise<Value>; expiresAt: number }

const DEFAULT_MAX = 10_000

/**
 * Creates a cache that loads each key once and shares the result, also with calls during the load. A failure rejects the
 * calls that wait for it and is not cached.
 *
 * @returns A function that reads a key.
 */
export function createCache<Key, Value>(
  load: (key: Key) => Promise<Value>,
  { ttlMs = Infinity, max = DEFAULT_MAX, keyOf = (key) => key }: CacheOptions<Key> = {},
): (key: Key) => Promise<Value> {
  /** In the order of their loads, so that the first entry expires first. */
  const entries = new Map<unknown, CacheEntry<Value>>()

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
