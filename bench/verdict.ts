import { cpus, loadavg } from 'node:os'
import { toMarkdownRows, writeRows, type ResultRow } from './page.js'

/** One metric. A goal bounds the ratio if a baseline exists, else the value. */
export type Metric = {
  metric: string
  steward: number
  baseline?: number
  atLeast?: number
  atMost?: number
}

/** `faults`: what went wrong besides. `write`: the page whose results table receives the rows. */
type Ending = { faults?: string[]; write?: string | undefined }

/** Prints one table of ratios and a verdict. Sets the exit code to 1 when a goal is missed or a fault is named. */
export function printVerdict(lines: Metric[], { faults = [], write }: Ending = {}): void {
  const rows = lines.map(toRow)
  console.table(rows)
  if (write) writeRows(write, toMarkdownRows(rows))
  const missed = [...lines.filter(isMissed).map(({ metric }) => metric), ...faults]
  console.log(`Load of the machine: ${short(loadavg()[0] ?? 0)} on ${cpus().length} cores.`)
  console.log(missed.length === 0 ? 'Verdict: met' : `Verdict: missed: ${missed.join('; ')}`)
  if (missed.length > 0) process.exitCode = 1
}

function toRow(line: Metric): ResultRow {
  const { metric, steward, baseline, atLeast, atMost } = line
  const goals = [
    ...(atLeast === undefined ? [] : [`at least ${short(atLeast)}`]),
    ...(atMost === undefined ? [] : [`at most ${short(atMost)}`]),
  ]
  return {
    metric,
    Steward: short(steward),
    baseline: baseline === undefined ? '' : short(baseline),
    ratio: baseline === undefined ? '' : short(steward / baseline),
    goal: goals.join(', '),
    met: goals.length === 0 ? '' : isMissed(line) ? 'no' : 'yes',
  }
}

/** NaN misses every goal. */
function isMissed({ steward, baseline, atLeast, atMost }: Metric): boolean {
  const judged = baseline === undefined ? steward : steward / baseline
  const isEnough = atLeast === undefined || judged >= atLeast
  const isLittle = atMost === undefined || judged <= atMost
  return !(isEnough && isLittle)
}

const short = (value: number) =>
  Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))
