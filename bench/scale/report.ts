import { cpus, loadavg } from 'node:os'
import { quantile } from '../callers.js'
import { printVerdict } from '../verdict.js'
import { costsOf, type Cost, type Counters } from './counters.js'
import type { ChaosVerdict } from '../../test/chaos/verdict.js'
import type { LendingRound } from './lending.js'
import type { Shares } from './shares.js'

const tenth = (value: number) => Math.round(value * 10) / 10

/** A process: its idle usage in cores, and MB after the first round. */
export type ProcessFigures = { name: string; idleCores: number; mb: number }

export type ScaleResults = {
  rounds: LendingRound[]
  verdict: ChaosVerdict
  idle: Counters
  history: { actions: number; events: number }
  processes: ProcessFigures[]
  /** Average gas of operations on chain, with their share of the bundle's own gas. */
  bundles: { operations: number; bundles: number; gas: number }
}

/** Prints the rounds, the share of each process and the cost of an intent. */
export function report(found: ScaleResults): void {
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

/** Compares rounds with a kill to the undisturbed round. Only lost or doubled work is a fault. */
function judgeRounds({ rounds, verdict }: ScaleResults): void {
  const [undisturbed, ...disturbed] = rounds
  const rate = (round?: LendingRound) => (round ? round.completed / round.seconds : NaN)
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
 * The cost of a lend in the first round, as lines of a Markdown table, with the idle usage of the same processes. A
 * hundred lends per second cost at most a hundred times as much.
 */
export function describeCosts({ rounds, idle, history, bundles }: ScaleResults): string[] {
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

/** A decrease counts as no cost. */
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

function describe({ ids, completed, seconds, posts, done, pauseMs, killed }: LendingRound) {
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
