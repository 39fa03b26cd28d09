import { cpus, loadavg } from 'node:os'
import { quantile } from '../callers.js'
import { costsOf, type Cost, type Counters } from './counters.js'
import type { Verdict } from '../../test/chaos/verdict.js'
import type { Round } from './lending.js'
import type { Shares } from './shares.js'

/** What a wallet or an intent lost, and what was done twice. */
const lostKinds = [
  'stuck',
  'completedWithoutMoney',
  'notConserved',
  'failedWithMoneyMoved',
] as const
const doubledKinds = ['double', 'faults'] as const

const tenth = (value: number) => Math.round(value * 10) / 10

/** By name: of a history, or of memory in MB. */
type Figures = Record<string, number>

export type Found = {
  rounds: Round[]
  verdict: Verdict
  idle: Counters
  history: Figures
  memory: Figures
  /** What operations took on chain, on average, with their share of the bundle's own gas. */
  bundles: { operations: number; bundles: number; gas: number }
}

/** Prints what came of it, who has done what, and what an intent cost. */
export function report(found: Found): void {
  const { rounds, verdict, memory } = found
  console.log('Lends on one chain, posted at once; times in ms.')
  console.table(Object.fromEntries(rounds.map((round) => [round.name, describe(round)])))
  const count = (kinds: readonly (keyof Verdict)[]) =>
    kinds.reduce((sum, kind) => sum + verdict[kind].length, 0)
  console.log(`lost ${count(lostKinds)}, doubled ${count(doubledKinds)}`)
  for (const [kind, all] of Object.entries(verdict)) {
    for (const one of all.slice(0, 10)) console.log(`  ${kind}: ${one}`)
  }
  for (const { name, shares } of rounds) {
    console.log(`Who has done what, ${name}: ${describeShares(shares)}`)
  }
  const perProcess = Object.entries(memory).map(([name, mb]) => `${name} ${Math.round(mb)}`)
  console.log(`MB at the end: ${perProcess.join(', ')}`)
  for (const line of describeCosts(found)) console.log(line)
  console.log(`Load of the machine: ${tenth(loadavg()[0] ?? 0)} on ${cpus().length} cores.`)
}

/**
 * What a lend of the first round cost, as the lines of a table in Markdown, what the same processes use up while
 * nothing is asked for, and what a hundred lends a second would use together with it.
 */
export function describeCosts({ rounds, idle, history, bundles }: Found): string[] {
  const [round] = rounds
  if (!round) return []
  const { used, usedSeconds: seconds, completed: intents } = round
  const costs = [...costsOf({ used, seconds, intents }, idle)]
    .filter(([, { perIntent, idlePerSecond }]) => perIntent + idlePerSecond >= 0.05)
    .sort(([a], [b]) => a.localeCompare(b))
  const perLend = {
    'Temporal: actions': history.actions,
    'Temporal: events of a history': history.events,
    'chain: gas': bundles.gas,
    'chain: bundles': bundles.bundles / bundles.operations,
  }
  return [
    '| Of a lend | each | idle, a second | at 100 a second |',
    '| --- | --- | --- | --- |',
    ...costs.map(([name, cost]) => describeCost(name, cost)),
    ...Object.entries(perLend).map(([name, each]) =>
      describeCost(name, { perIntent: each ?? NaN, idlePerSecond: 0 }),
    ),
  ]
}

const describeCost = (name: string, { perIntent, idlePerSecond }: Cost) =>
  `| ${name} | ${short(perIntent)} | ${short(idlePerSecond)} | ${short(perIntent * 100 + idlePerSecond)} |`

const short = (value: number) =>
  (value >= 100 ? Math.round(value) : Number(value.toPrecision(2))).toLocaleString('en')

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
