import { createHash } from 'node:crypto'

/** Random draws of one source, independent of other sources, so that a seed reproduces a run. */
export type Draws = {
  /** In [0, 1). */
  next(): number
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number
  /** A random item with a probability by its weight. */
  pick<T>(choices: readonly (readonly [choice: T, weight: number])[]): T
}

export function drawsOf(seed: string, source: string): Draws {
  let drawn = 0
  const next = () => {
    const hash = createHash('sha256').update(`${seed} ${source} ${drawn++}`)
    return hash.digest().readUInt32BE(0) / 2 ** 32
  }
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick(choices) {
      const sum = choices.reduce((all, [, weight]) => all + weight, 0)
      let left = next() * sum
      const found = choices.find(([, weight]) => (left -= weight) < 0) ?? choices.at(-1)
      if (!found) throw new Error('The list of choices is empty.')
      return found[0]
    },
  }
}
