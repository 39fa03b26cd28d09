import { readdirSync, readFileSync } from 'node:fs'
import type { StackFacts } from '../test/e2e/stack.js'

/** Ticks of `/proc` per second. @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
const TICKS_PER_SECOND = 100
const KB_PER_MB = 1_024

/** CPU seconds by the name of a process. */
export type Cpu = Record<string, number>

/**
 * The processes of a stack, and this one, which runs the clients. `devnet`: mining, fronts of rollups and the
 * attestation service, which a deployment does not run.
 */
export function pidsOf(pids: StackFacts['pids']): Record<string, number> {
  const { anvil, ...services } = pids as StackFacts['pids'] & {
    anvil: Record<string, number | null>
  }
  const nodes = Object.entries(anvil).flatMap(([name, pid]) =>
    pid === null ? [] : [[`node ${name}`, pid] as const],
  )
  const devnet = parentOf(services.api)
  return { ...services, ...Object.fromEntries(nodes), devnet, bench: process.pid }
}

type ProcessTicks = { parent: number; ownTicks: number; endedTicks: number }

/**
 * CPU seconds of processes since their start, all threads included. Includes child processes without a name of their
 * own: a Postgres forks a process per session.
 *
 * @param pids - The process of each name.
 */
export function readCpu(pids: Record<string, number>): Cpu {
  const stats = readStats()
  const named = new Set(Object.values(pids))
  return mapValues(pids, (pid) => {
    const ticks = treeOf(stats, { pid, named }).map((one) => {
      const stat = stats.get(one)
      return stat ? stat.ownTicks + stat.endedTicks : 0
    })
    return sum(ticks) / TICKS_PER_SECOND
  })
}

/** Resident MB. Memory shared by several processes is divided between them. */
export function readMemory(pids: Record<string, number>): Record<string, number> {
  const stats = readStats()
  const named = new Set(Object.values(pids))
  return mapValues(pids, (pid) => {
    const tree = treeOf(stats, { pid, named })
    return tree.length === 1 ? readRss(pid) : sum(tree.map(readPss))
  })
}

/** CPU seconds of a process's threads since their start, by the thread's name. Some threads share a name. */
export function readThreads(pid: number): Cpu {
  const threads: Cpu = {}
  for (const id of readdirSync(`/proc/${pid}/task`)) {
    const name = readProc(pid, `task/${id}/comm`)?.trim()
    const ticks = readStat(pid, `task/${id}/stat`)?.ownTicks
    if (!name || ticks === undefined) continue
    const key = Number(id) === pid ? 'main' : name
    threads[key] = (threads[key] ?? 0) + ticks / TICKS_PER_SECOND
  }
  return threads
}

const parentOf = (pid: number): number => readStat(pid)?.parent ?? 0

/** Usage between two readings. */
export const spent = (before: Cpu, after: Cpu): Cpu =>
  Object.fromEntries(Object.entries(after).map(([name, to]) => [name, to - (before[name] ?? 0)]))

/** CPU ms per item. */
export const perItem = (cpu: Cpu, count: number): Cpu =>
  mapValues(cpu, (seconds) => (seconds * 1_000) / count)

export function addUp(cpus: Cpu[]): Cpu {
  const names = new Set(cpus.flatMap((cpu) => Object.keys(cpu)))
  return Object.fromEntries(
    [...names].map((name) => [name, sum(cpus.map((cpu) => cpu[name] ?? 0))]),
  )
}

export const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)

const mapValues = (pids: Record<string, number>, read: (pid: number) => number) =>
  Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, read(pid)]))

type Root = { pid: number; named: Set<number> }

function treeOf(stats: Map<number, ProcessTicks>, { pid: root, named }: Root): number[] {
  const children = [...stats].flatMap(([pid, { parent }]) =>
    parent === root && !named.has(pid) ? treeOf(stats, { pid, named }) : [],
  )
  return [root, ...children]
}

function readStats(): Map<number, ProcessTicks> {
  const stats = new Map<number, ProcessTicks>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = readStat(Number(name))
    if (stat) stats.set(Number(name), stat)
  }
  return stats
}

function readStat(pid: number, file = 'stat'): ProcessTicks | undefined {
  const text = readProc(pid, file)
  if (text === undefined) return undefined
  // The name may hold spaces and brackets, so fields are counted from its end. The first one after it is the third
  // field.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const field = (n: number) => Number(fields[n - 3])
  return {
    parent: field(4),
    ownTicks: field(14) + field(15),
    endedTicks: field(16) + field(17),
  }
}

const readRss = (pid: number) => readKb(pid, 'status', /^VmRSS:\s+(\d+)/m)
const readPss = (pid: number) => readKb(pid, 'smaps_rollup', /^Pss:\s+(\d+)/m)

function readKb(pid: number, file: string, field: RegExp): number {
  const found = field.exec(readProc(pid, file) ?? '')
  return Number(found?.[1] ?? 0) / KB_PER_MB
}

/** Undefined when the process has ended. */
function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}
