import { misused } from './exit.js'
import type { Command } from 'commander'

/** Reports an unknown command of a program or of one of its groups, with the commands that it resembles. */
export function suggestCommands(program: Command): void {
  for (const group of [program, ...program.commands]) {
    if (group.commands.length === 0) continue
    group.on('command:*', (typed: string[]) => {
      const own = group === program ? [] : [group.name()]
      const near = nearestPaths(pathsOf(program), [...own, ...typed])
      const hint = near.map((path) => `steward ${path.join(' ')}`).join(', ')
      throw misused(
        `Unknown command ${[...own, typed[0]].join(' ')}.`,
        hint ? `Did you mean: ${hint}?` : 'List the commands: steward --help',
      )
    })
  }
}

/** The words of every command that does something. */
function pathsOf({ commands }: Command): string[][] {
  return commands.flatMap((command) => {
    const below = pathsOf(command)
    return below.length === 0 ? [[command.name()]] : below.map((path) => [command.name(), ...path])
  })
}

/** Two letters swapped are two edits. */
const MAX_EDITS = 2

/** The paths nearest to the typed words. A path resembles them as a whole, or by its last word alone. */
function nearestPaths(paths: string[][], typed: string[]): string[][] {
  const rated = paths.map((path) => {
    const whole = editsBetween(path.join(' '), typed.slice(0, path.length).join(' '))
    const last = Math.min(...typed.map((word) => editsBetween(path.at(-1) ?? '', word)))
    // A path that resembles the words as a whole is nearer than any last word.
    return { path, edits: whole < Infinity ? whole : last + MAX_EDITS + 1 }
  })
  const least = Math.min(...rated.map(({ edits }) => edits))
  return rated.filter(({ edits }) => edits === least && least < Infinity).map(({ path }) => path)
}

/** Levenshtein distance. Infinity for words that are not similar. */
function editsBetween(name: string, typed: string): number {
  if (Math.abs(name.length - typed.length) > MAX_EDITS) return Infinity
  let row = Array.from({ length: typed.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...name].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...typed].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  const edits = row.at(-1) ?? 0
  return edits <= MAX_EDITS && edits < name.length / 2 ? edits : Infinity
}
