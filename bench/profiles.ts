import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const LINES = 20
/** Where a thread is when it does nothing, or nothing but being profiled. */
const idle = ['(idle)', '(program)', '(root)']
const PROFILER = /\/bench\/profiler\.mjs$/

type Frame = { functionName: string; url: string; lineNumber: number }
/** @see https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile */
type Profile = {
  nodes: { id: number; callFrame: Frame; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

/** What makes profiles of a stack's processes; absent folder: none. */
export function profiling(folder: string | undefined) {
  const file = fileURLToPath(new URL('profiler.mjs', import.meta.url))
  return {
    env: folder ? { NODE_OPTIONS: `--import ${file}`, PROFILE_FOLDER: folder } : {},
    /** Begins the profiles of processes, or ends them. */
    toggle(pids: number[]): void {
      if (folder) for (const pid of pids) process.kill(pid, 'SIGUSR2')
    },
    /** Prints what the threads of a process have spent their time on. */
    report({ name, pid }: { name: string; pid: number }, ran: Ran): void {
      if (!folder) return
      const all = Object.entries(ran.threads).filter(([, s]) => s > 0)
      const shown = all
        .sort(([, a], [, b]) => b - a)
        .map(([thread, s]) => `${thread} ${((s * 1_000) / ran.intents).toFixed(1)}`)
      console.log(`\n${name}: CPU ms per intent by thread: ${shown.join(', ')}`)
      for (const file of readdirSync(folder).filter((one) => one.startsWith(`${pid}.`))) {
        const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile
        tell(`${name}, JavaScript thread ${file.split('.')[1]}`, profile, ran.intents)
      }
    },
  }
}

/** CPU seconds of a process's threads while so many intents were executed. */
type Ran = { threads: Record<string, number>; intents: number }

/** Times are of the clock: a thread that waits for a core is on its stack all the while. Shares hold nevertheless. */
function tell(thread: string, profile: Profile, intents: number): void {
  const own = ownTimes(profile)
  const busy = profile.nodes.filter(({ callFrame }) => !idle.includes(callFrame.functionName))
  const total = busy.reduce((sum, { id }) => sum + (own.get(id) ?? 0), 0)
  const list = (title: string, sums: Map<string, number>, lines: number) => {
    console.log(`  ${title}`)
    for (const [name, us] of [...sums].sort(([, a], [, b]) => b - a).slice(0, lines)) {
      const [each, share] = [us / 1_000 / intents, (100 * us) / total]
      console.log(`  ${each.toFixed(2).padStart(8)} ms ${share.toFixed(1).padStart(5)} %  ${name}`)
    }
  }
  const sumBy = (nameOf: (frame: Frame) => string) => {
    const sums = new Map<string, number>()
    for (const { id, callFrame } of busy) {
      sums.set(nameOf(callFrame), (sums.get(nameOf(callFrame)) ?? 0) + (own.get(id) ?? 0))
    }
    return sums
  }
  console.log(`${thread}: ${(total / 1_000 / intents).toFixed(2)} ms busy per intent`)
  list('by place', sumBy(placeOf), LINES)
  list('by function', sumBy(functionOf), LINES)
  list('our functions, with what they call', inclusiveTimes(profile, own), 2 * LINES)
}

function ownTimes({ nodes, samples, timeDeltas }: Profile): Map<number, number> {
  const own = new Map<number, number>()
  const children = new Map(nodes.map(({ id, children = [] }) => [id, children]))
  const profilers = nodes.filter(({ callFrame }) => PROFILER.test(callFrame.url))
  const drop = (id: number): number[] => [id, ...(children.get(id) ?? []).flatMap(drop)]
  const dropped = new Set(profilers.flatMap(({ id }) => drop(id)))
  for (const [i, id] of samples.entries()) {
    if (!dropped.has(id)) own.set(id, (own.get(id) ?? 0) + (timeDeltas[i] ?? 0))
  }
  return own
}

/** Of our own functions, each counted once however often it is on the stack. */
function inclusiveTimes({ nodes }: Profile, own: Map<number, number>): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const sums = new Map<string, number>()
  const visit = (id: number, above: ReadonlySet<string>) => {
    const node = byId.get(id)
    if (!node) return
    const name = isOurs(node.callFrame) ? functionOf(node.callFrame) : undefined
    const names = name && !above.has(name) ? new Set([...above, name]) : above
    const us = own.get(id) ?? 0
    if (us > 0) for (const one of names) sums.set(one, (sums.get(one) ?? 0) + us)
    for (const child of node.children ?? []) visit(child, names)
  }
  visit(nodes[0]?.id ?? 0, new Set())
  return sums
}

const isOurs = ({ url }: Frame) =>
  placeOf({ functionName: '', url, lineNumber: 0 }).startsWith('./')

/** A package, a folder of ours, or the engine. */
function placeOf({ functionName, url }: Frame): string {
  const steward = /\/services-[0-9a-f]+\/(.*)$/.exec(url)?.[1]
  if (steward) return `./${steward.split('/').slice(0, -1).join('/')}`
  const packaged = url.split('/node_modules/').at(-1)
  if (url.includes('/node_modules/') && packaged) {
    return packaged
      .split('/')
      .slice(0, packaged.startsWith('@') ? 2 : 1)
      .join('/')
  }
  if (url.startsWith('node:')) return url
  if (url.includes(root)) return `./${url.split(root)[1]?.split('/').slice(0, -1).join('/')}`
  return url || functionName
}

function functionOf({ functionName, url, lineNumber }: Frame): string {
  const short = url.replace(/^.*\/(node_modules|services-[0-9a-f]+)\//, '').replace(root, '')
  return `${functionName || '(anonymous)'} ${short}${url ? `:${lineNumber + 1}` : ''}`
}
