import type { Db } from './connect.js'

/** Caches the result of `make` per pool. */
export function perPool<Made>(make: (db: Db) => Made): (db: Db) => Made {
  const made = new WeakMap<Db, { value: Made }>()
  return (db) => {
    const known = made.get(db) ?? { value: make(db) }
    made.set(db, known)
    return known.value
  }
}
