import type { Db } from './connect.js'

/** What `make` makes for a pool, once for each. */
export function perPool<Made>(make: (db: Db) => Made): (db: Db) => Made {
  const made = new WeakMap<Db, { value: Made }>()
  return (db) => {
    const known = made.get(db) ?? { value: make(db) }
    made.set(db, known)
    return known.value
  }
}
