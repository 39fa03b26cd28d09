import { readCounts } from './serverMetrics.js'
import { readWork } from './stores.js'
import type { MeteredNode } from './nodes.js'
import type { Watch } from './processes.js'
import type { Stack } from '../../test/e2e/stack.js'

/** What was used up so far, by what it is. Each only grows. */
export type Counters = Map<string, number>

export type Metered = { stack: Stack; nodes: MeteredNode[]; watch: Watch }

const CPU = 'CPU ms of '
/** What stands for what others run. */
const notOurs = ['bench', 'devnet', 'node']

/** Reads all counters. Processes of a role count together. */
export async function readCounters({ stack, nodes, watch }: Metered): Promise<Counters> {
  const { databaseUrl, temporalCluster } = stack.facts
  const counters: Counters = new Map()
  const add = (name: string, value: number) => counters.set(name, (counters.get(name) ?? 0) + value)
  for (const [name, seconds] of watch.read()) add(`${CPU}${roleOf(name)}`, seconds * 1_000)
  const stores: [string, string][] = [['Steward', databaseUrl]]
  if (temporalCluster) stores.push(['Temporal', temporalCluster.databaseUrl])
  for (const [name, url] of stores) {
    const { statements, commits, walBytes, storedBytes } = await readWork(url)
    add(`SQL statements, ${name}`, statements)
    add(`commits, ${name}`, commits)
    add(`kB of log, ${name}`, walBytes / 1_000)
    add(`kB stored, ${name}`, storedBytes / 1_000)
  }
  if (temporalCluster) {
    for (const [name, count] of await readCounts(temporalCluster.metricsUrl)) add(name, count)
  }
  for (const { passed } of nodes) {
    add('RPC calls', passed.calls)
    add('RPC requests', passed.requests)
    add('kB by RPC', passed.bytes / 1_000)
  }
  return counters
}

/** What was used in between. */
export const since = (before: Counters, after: Counters): Counters =>
  new Map([...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)]))

/** The role of a process, of which there may be several. */
const roleOf = (name: string) => name.replace(/^node .*/, 'node').replace(/-\d+$/, '')

/** What so many intents used, and what was used by nobody while nothing was asked for. */
export type Cost = { perIntent: number; idlePerSecond: number }

type Spent = { used: Counters; seconds: number; intents: number }

/** Cost of an intent, beside what the same time costs in which nothing is asked for. */
export function costsOf({ used, seconds, intents }: Spent, idle: Counters): Map<string, Cost> {
  const costs = new Map<string, Cost>()
  for (const [name, value] of used) {
    const idlePerSecond = idle.get(name) ?? 0
    const perIntent = Math.max(0, value - idlePerSecond * seconds) / intents
    costs.set(name, { perIntent, idlePerSecond })
  }
  const own = [...costs].filter(
    ([name]) => name.startsWith(CPU) && !notOurs.includes(name.slice(CPU.length)),
  )
  const sum = (key: keyof Cost) => own.reduce((total, [, cost]) => total + cost[key], 0)
  costs.set(`${CPU}all without the chains`, {
    perIntent: sum('perIntent'),
    idlePerSecond: sum('idlePerSecond'),
  })
  return costs
}
