import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import path from 'node:path'

/** Every benchmark takes it: the page that receives the results, such as `docs/performance.md`. */
export const pageOption = { write: { type: 'string' } } as const

/** A row of the results table, without command, date and machine. */
export type ResultRow = {
  metric: string
  Steward: number | string
  baseline: number | string
  ratio: number | string
  goal: string
  met: string
}

const HEADER = '| Command'

/** The rows of a page's results table, with the command of this process, the date and the machine. */
export function toMarkdownRows(rows: ResultRow[]): string[] {
  const date = new Date().toISOString().slice(0, 10)
  return rows.map(({ metric, Steward, baseline, ratio, goal, met }) => {
    const cells = [metric, Steward, baseline, ratio, goal, met, date, `${cpus().length} cores`]
    return `| \`${commandOf(process.argv[1] ?? '')}\` | ${cells.join(' | ')} |`
  })
}

const commandOf = (script: string) => `npm run bench:${path.basename(script, '.ts')}`

/**
 * Replaces the rows of a command in the results table of a page.
 *
 * @param rows - Lines of Markdown whose first cell is the command.
 */
export function writeRows(file: string, rows: string[]): void {
  const lines = readFileSync(file, 'utf8').split('\n')
  const head = lines.findIndex((line) => line.startsWith(HEADER))
  if (head < 0) throw new Error(`${file} has no table that starts with "${HEADER}".`)
  const length = lines.slice(head).findIndex((line) => !line.startsWith('|'))
  const kept = lines.slice(head + 2, head + length)
  const command = cellOf(rows[0] ?? '')
  const at = kept.findIndex((line) => cellOf(line) === command)
  const others = kept.filter((line) => cellOf(line) !== command)
  others.splice(at < 0 ? others.length : at, 0, ...rows)
  lines.splice(head + 2, kept.length, ...others)
  writeFileSync(file, lines.join('\n'))
}

const cellOf = (line: string) => line.split('|')[1]?.trim()
