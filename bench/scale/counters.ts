import { readCounts } from './serverMetrics.js'
import { readWork } from './stores.js'
import type { MeteredNode } from './nodes.js'
import type { ProcessWatch } from './processes.js'
import type { Stack } from '../../test/e2e/stack.js'

/** Resources used so far, by kind. Counters only grow. */
export type Counters = Map<string, number>

export type Metered = { stack: Stack; nodes: MeteredNode[]; watch: ProcessWatch }

const CPU = 'CPU ms of '
/** The clients and the devnet, which are not part of a deployment. */
const standIns = ['bench', 'devnet', 'node']

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

/** The difference of two readings. */
export const since = (before: Counters, after: Counters): Counters =>
  new Map([...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)]))

/** The role of a process. A role may have several processes. */
const roleOf = (name: string) => name.replace(/^node .*/, 'node').replace(/-\d+$/, '')

/**
 * `each`: usage during a run, divided by its intents. `idlePerSecond`: usage of an idle second. Under load it is
 * lower, because busy processes find their work without extra polls.
 */
export type Cost = { each: number; idlePerSecond: number }

/** Cost of an intent by resource. */
export function costsOf(used: Counters, intents: number, idle: Counters): Map<string, Cost> {
  const costs = new Map<string, Cost>()
  for (const [name, value] of used) {
    if (standIns.includes(name.slice(CPU.length))) continue
    // A checkpoint may free storage. That counts as no growth.
    const idlePerSecond = Math.max(0, idle.get(name) ?? 0)
    costs.set(name, { each: value / intents, idlePerSecond })
  }
  const ours = [...costs].filter(([name]) => name.startsWith(CPU))
  const sum = (key: keyof Cost) => ours.reduce((total, [, cost]) => total + cost[key], 0)
  costs.set(`${CPU}all`, { each: sum('each'), idlePerSecond: sum('idlePerSecond') })
  return costs
}
