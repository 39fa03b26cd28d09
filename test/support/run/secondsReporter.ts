import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import type { Kind, Spent } from './seconds.js'

/** Seconds of one test file. `rest`: time besides loading modules and waiting for fixtures. */
type FileSeconds = { file: string } & Record<(typeof columns)[number], number>

const kinds: Kind[] = ['chain', 'database', 'temporal', 'stack']
const columns = ['total', 'load', ...kinds, 'rest'] as const
const SLOWEST = 15

/** Outside of the folders of type check and linter. */
const OUTPUT = 'node_modules/.cache/steward/test-seconds.tsv'

/** Prints the seconds of a run by kind and for the slowest files, and writes those of all files. */
export default class SecondsReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const { root = process.cwd(), cliExclude: excluded } = this.#vitest?.config ?? {}
    const rows = modules.map(toRow).sort((a, b) => b.total - a.total)
    const whole = { file: `all ${rows.length} files`, ...sum(rows) }
    const output = join(root, OUTPUT)
    mkdirSync(join(output, '../..'), { recursive: true })
    writeFileSync(
      output,
      [toLine(header, '\t'), ...rows.map((row) => toLine(row, '\t')), ''].join('\n'),
    )
    // The CI log is the only record of that machine.
    const shown = process.env.CI ? rows : rows.slice(0, SLOWEST)
    const lines = [header, whole, ...shown].map((row) => toLine(row, '  '))
    console.log(`\nSeconds (all files: ${OUTPUT})\n${lines.join('\n')}`)
    const left = excluded ? listDeep(root, modules.length) : []
    if (left.length > 0)
      console.log(`\nLeft to npm run test:full: ${left.length} files\n  ${left.join(' ')}`)
  }
}

/** The deep files, once all others have run; empty for a partial run. */
function listDeep(root: string, ran: number): string[] {
  const all = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  const files = all.filter((file) => file.endsWith('.test.ts'))
  const deep = files.filter((file) => file.endsWith('.deep.test.ts'))
  if (ran < files.length - deep.length) return []
  return deep.map((file) => file.replace('.deep.test.ts', '')).sort()
}

const header = { file: 'file', ...Object.fromEntries(columns.map((name) => [name, name])) }

function toRow(module: TestModule): FileSeconds {
  const { setupDuration, collectDuration, prepareDuration, duration } = module.diagnostic()
  const spent: Spent = module.meta().spent ?? {}
  const load = setupDuration + collectDuration + prepareDuration
  const fixtures = Object.fromEntries(kinds.map((kind) => [kind, spent[kind] ?? 0]))
  const waited = kinds.reduce((total, kind) => total + (spent[kind] ?? 0), 0)
  const times = { total: load + duration, load, ...fixtures, rest: duration - waited }
  const seconds = Object.entries(times).map(([name, ms]) => [name, ms / 1000])
  return { file: module.relativeModuleId, ...Object.fromEntries(seconds) } as FileSeconds
}

function sum(rows: FileSeconds[]): Omit<FileSeconds, 'file'> {
  const totals = columns.map((name) => [name, rows.reduce((total, row) => total + row[name], 0)])
  return Object.fromEntries(totals) as Omit<FileSeconds, 'file'>
}

function toLine(row: Record<string, string | number>, separator: string): string {
  const cells = columns.map((name) => {
    const value = row[name] ?? ''
    return (typeof value === 'number' ? value.toFixed(1) : value).padStart(8)
  })
  return [...cells, row.file].join(separator)
}
