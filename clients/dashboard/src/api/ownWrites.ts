import { useSyncExternalStore } from 'react'

/** Ids of the resources that this browser has created or changed since the page loaded. */
const ids = new Set<string>()
const listeners = new Set<() => void>()

export function recordOwnWrite(id: string): void {
  ids.add(id)
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Returns whether this browser wrote a resource. The component renders again after each write. */
export function useOwnWrites(): (id: string) => boolean {
  useSyncExternalStore(subscribe, () => ids.size)
  return (id) => ids.has(id)
}
