import { cpus, loadavg } from 'node:os'
import { quantile } from '../callers.js'
import { printVerdict } from '../verdict.js'
import { costsOf, type Cost, type Counters } from './counters.js'
import type { Verdict } from '../../test/chaos/verdict.js'
import type { Round } from './lending.js'
import type { Shares } from './shares.js'

const tenth = (value: number) => Math.round(value * 10) / 10

/** One process: what it uses of a core while nothing is asked for, and MB after the first round. */
export type ProcessFigures = { name: string; idleCores: number; mb: number }

export type Found = {
  rounds: Round[]
  verdict: Verdict
  idle: Counters
  history: { actions: number; events: number }
  processes: ProcessFigures[]
  /** What operations took on chain, on average, with their share of the bundle's own gas. */
  bundles: { operations: number; bundles: number; gas: number }
}

/** Prints what came of it, who has done what, and what an intent cost. */
export function report(found: Found): void {
  const { rounds, processes } = found
  console.log('Lends on one chain, posted at once; times in ms.')
  console.table(Object.fromEntries(rounds.map((round) => [round.name, describe(round)])))
  for (const { name, shares } of rounds) {
    console.log(`Who has done what, ${name}: ${describeShares(shares)}`)
  }
  console.table(Object.fromEntries(processes.map((one) => [one.name, describeProcess(one)])))
  for (const line of describeCosts(found)) console.log(line)
  judgeRounds(found)
}

/** Rounds with a kill beside the undisturbed one. Only what was lost or doubled is a fault. */
function judgeRounds({ rounds, verdict }: Found): void {
  const [undisturbed, ...disturbed] = rounds
  const rate = (round?: Round) => (round ? round.completed / round.seconds : NaN)
  const lines = disturbed.map((round) => ({
    metric: `lends a second, ${round.name}`,
    ...{ steward: rate(round), baseline: rate(undisturbed) },
  }))
  const faults = Object.entries(verdict).flatMap(([kind, all]) =>
    all.map((one: string) => `${kind}: ${one}`),
  )
  printVerdict(lines, { faults })
}

/**
 * What a lend of the first round cost, as the lines of a table in Markdown, beside what the same processes use while
 * nothing is asked for. A hundred a second need no more than a hundred times as much.
 */
export function describeCosts({ rounds, idle, history, bundles }: Found): string[] {
  const [round] = rounds
  if (!round) return []
  const costs = costsOf(round.used, round.completed, idle)
  const perLend = {
    'actions of Temporal Cloud': history.actions,
    'events of a history': history.events,
    gas: bundles.gas,
    transactions: bundles.bundles / bundles.operations,
  }
  for (const [name, each = NaN] of Object.entries(perLend))
    costs.set(name, { each, idlePerSecond: 0 })
  const lines = [...costs]
    .filter(([, { each, idlePerSecond }]) => each + idlePerSecond >= LEAST)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, cost]) => describeCost(name, cost))
  const [rate, replicas] = [tenth(round.completed / round.seconds), processesOf(round.shares)]
  return [
    `${round.completed} lends at once, ${rate} a second, ${replicas} processes of each role, ${describeMachine()}.`,
    '',
    '| Of a lend | each | a hundred a second, at most | idle, a second |',
    '| --- | ---: | ---: | ---: |',
    ...lines,
  ]
}

/** What is less of a lend is none of its costs. */
const LEAST = 0.05

const describeCost = (name: string, { each, idlePerSecond }: Cost) =>
  `| ${name} | ${short(each)} | ${short(each * 100)} | ${short(idlePerSecond)} |`

const short = (value: number) =>
  (value >= 100 ? Math.round(value) : Number(value.toPrecision(2))).toLocaleString('en')

const processesOf = ({ api }: Shares) => api.size

const describeMachine = () => {
  const load = tenth(loadavg()[0] ?? 0)
  const date = new Date().toISOString().slice(0, 10)
  return `${cpus().length} cores that everything shares, load ${load}, ${date}`
}

const describeProcess = ({ idleCores, mb }: ProcessFigures) => ({
  'share of a core, idle': Math.round(idleCores * 1_000) / 1_000,
  MB: Math.round(mb),
})

const describeShares = (shares: Shares) =>
  Object.values(shares)
    .flatMap((done) => {
      const all = [...done.values()].reduce((sum, count) => sum + count, 0)
      return [...done].map(([name, count]) => `${name} ${Math.round((100 * count) / all)} %`)
    })
    .join(', ')

function describe({ ids, completed, seconds, posts, done, pauseMs, killed }: Round) {
  return {
    intents: ids.length,
    completed,
    'intents/s': tenth(completed / seconds),
    'POST p50': Math.round(quantile(posts, 0.5)),
    'POST p99': Math.round(quantile(posts, 0.99)),
    'done p50': Math.round(quantile(done, 0.5)),
    'done p99': Math.round(quantile(done, 0.99)),
    'longest pause': pauseMs,
    killed: killed.join(' '),
  }
}
