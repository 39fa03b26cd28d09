import { cpus, loadavg } from 'node:os'
import type { Verdict } from '../../test/chaos/verdict.js'
import type { Round } from './lending.js'
import type { History } from './stores.js'

/** What a wallet or an intent lost, and what was done twice. */
const lostKinds = [
  'stuck',
  'completedWithoutMoney',
  'notConserved',
  'failedWithMoneyMoved',
] as const
const doubledKinds = ['double', 'faults'] as const

const tenth = (value: number) => Math.round(value * 10) / 10

/** Prints what came of it, and what it cost by process. */
export function report(rounds: Round[], verdict: Verdict, history: History | undefined): void {
  console.log('Lends on one chain, posted at once; times in ms.')
  console.table(Object.fromEntries(rounds.map((round) => [round.name, describe(round)])))
  const count = (kinds: readonly (keyof Verdict)[]) =>
    kinds.reduce((sum, kind) => sum + verdict[kind].length, 0)
  console.log(`lost ${count(lostKinds)}, doubled ${count(doubledKinds)}`)
  for (const [kind, found] of Object.entries(verdict)) {
    for (const one of found.slice(0, 10)) console.log(`  ${kind}: ${one}`)
  }
  for (const round of rounds) {
    reportUsage(round)
    reportWork(round)
  }
  if (history) {
    const { transitions, events, bytes } = history
    console.log(
      `A lend is ${tenth(events)} events and ${tenth(transitions)} state transitions of Temporal, ` +
        `${Math.round(bytes)} bytes of history.`,
    )
  }
  console.log(`Load of the machine: ${tenth(loadavg()[0] ?? 0)} on ${cpus().length} cores.`)
}

function describe({ intents, completed, seconds, posts, done, pauseMs, killed }: Round) {
  return {
    intents,
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

function reportUsage({ name, usage, completed, seconds }: Round): void {
  const rows = [...usage].map(([process, { cpuMs, rssMb }]) => [
    process,
    {
      'CPU ms/intent': tenth(cpuMs / completed),
      cores: Math.round(cpuMs / seconds / 10) / 100,
      // A core gives 1,000 ms a second.
      'cores at 100/s': tenth(cpuMs / completed / 10),
      'RSS MB': Math.round(rssMb),
    },
  ])
  const total = [...usage.values()].reduce((sum, { cpuMs }) => sum + cpuMs, 0)
  console.log(`By process, ${name}: ${tenth(total / completed)} ms of CPU an intent in all.`)
  console.table(Object.fromEntries(rows))
}

function reportWork({ name, work, counts, completed }: Round): void {
  const rows = [...work].map(([store, { commits, walBytes, storedBytes }]) => [
    store,
    {
      'commits/intent': tenth(commits / completed),
      'WAL kB/intent': tenth(walBytes / completed / 1_000),
      'stored kB/intent': tenth(storedBytes / completed / 1_000),
    },
  ])
  console.log(`By database server, ${name}:`)
  console.table(Object.fromEntries(rows))
  for (const [what, count] of counts)
    console.log(`  ${what}: ${tenth(count / completed)} an intent`)
}

function quantile(values: number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}
