/** The most similar of the names to a mistyped one, undefined when none is similar. */
export function nearestName(typed: string, names: string[]): string | undefined {
  const wanted = plain(typed)
  const near = names
    .map((name) => ({ name, edits: countEdits(wanted, plain(name)) }))
    .filter(({ name, edits }) => edits <= MAX_EDITS && edits < name.length / 2)
    .sort((a, b) => a.edits - b.edits)
  return near[0]?.name
}

/** Two letters swapped are two edits. */
const MAX_EDITS = 2

/** `walletID` and `wallet_id` are `walletId`. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** Levenshtein distance, capped at MOST_EDITS + 1. */
function countEdits(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_EDITS) return MAX_EDITS + 1
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
