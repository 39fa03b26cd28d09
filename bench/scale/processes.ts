import { readdirSync, readFileSync } from 'node:fs'

/** CPU time since the watch began, and memory as it is now, of all that ran under a name. */
export type Usage = { cpuMs: number; rssMb: number }

type Entry = { parent: number; ticks: number; endedTicks: number; rssPages: number }
/** Process ids by name, as they are at the moment. */
type ReadPids = () => Record<string, number>

/** @see man 5 proc; sysconf(_SC_CLK_TCK) and the size of a page on every Linux platform of Node. */
const MS_PER_TICK = 10
const PAGE_BYTES = 4_096
/** What a killed process has used since the last look is not counted. */
const LOOK_EVERY_MS = 500

/**
 * Adds up what processes use, all threads and children of theirs included. One that is started again under its name
 * goes on with the sum of those before.
 */
export function watchProcesses(readPids: ReadPids) {
  const seen = new Map<string, Usage & { name: string }>()
  const bases = new Map<string, number>()
  look()
  for (const [key, { cpuMs }] of seen) bases.set(key, cpuMs)
  const looking = setInterval(look, LOOK_EVERY_MS)

  function look(): void {
    const table = readTable()
    for (const one of seen.values()) one.rssMb = 0
    for (const [name, pid] of Object.entries(readPids())) {
      const usage = usageOf(table, pid)
      if (usage) seen.set(`${name}/${pid}`, { name, ...usage })
    }
  }

  return {
    read(): Map<string, Usage> {
      look()
      const sums = new Map<string, Usage>()
      for (const [key, { name, cpuMs, rssMb }] of seen) {
        const sum = sums.get(name) ?? { cpuMs: 0, rssMb: 0 }
        const used = cpuMs - (bases.get(key) ?? 0)
        sums.set(name, { cpuMs: sum.cpuMs + used, rssMb: sum.rssMb + rssMb })
      }
      return sums
    },
    stop: () => clearInterval(looking),
  }
}

function usageOf(table: Map<number, Entry>, pid: number): Usage | undefined {
  const entry = table.get(pid)
  if (!entry) return undefined
  const children = [...table].filter(([, { parent }]) => parent === pid)
  const below = children.map(([child]) => usageOf(table, child) ?? { cpuMs: 0, rssMb: 0 })
  const own = (entry.ticks + entry.endedTicks) * MS_PER_TICK
  return {
    cpuMs: below.reduce((sum, { cpuMs }) => sum + cpuMs, own),
    // Children of Postgres share most of their memory with it: the largest one stands for all.
    rssMb: Math.max((entry.rssPages * PAGE_BYTES) / 2 ** 20, ...below.map(({ rssMb }) => rssMb)),
  }
}

function readTable(): Map<number, Entry> {
  const table = new Map<number, Entry>()
  for (const name of readdirSync('/proc')) {
    const entry = /^\d+$/.test(name) ? readEntry(name) : undefined
    if (entry) table.set(Number(name), entry)
  }
  return table
}

/** @see man 5 proc: what follows the command's closing parenthesis, beginning with the state. */
function readEntry(pid: string): Entry | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const at = (index: number) => Number(fields[index])
    return {
      parent: at(1),
      ticks: at(11) + at(12),
      endedTicks: at(13) + at(14),
      rssPages: at(21),
    }
  } catch {
    // It ended in between.
    return undefined
  }
}
