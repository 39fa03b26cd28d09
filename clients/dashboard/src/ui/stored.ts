/** A choice that this browser remembers. Undefined: none, or storage is disabled. */
export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

/** Remembers a choice in this browser. With disabled storage it lasts as long as the page. */
export function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value)
  } catch {
    // The page already has the choice.
  }
}
