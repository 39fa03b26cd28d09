/** Far more than are looked at together. */
const MOST_KEYS = 10_000

/** Makes the value of each key once, and all anew when there are too many. For what never changes. */
export function remember<Value>(make: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, { value: Value }>()
  return (key) => {
    const found = known.get(key)
    if (found) return found.value
    if (known.size >= MOST_KEYS) known.clear()
    const value = make(key)
    known.set(key, { value })
    return value
  }
}
