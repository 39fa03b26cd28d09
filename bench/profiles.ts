import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const LINES = 20
/** Where a thread is when it does nothing. */
const idle = ['(idle)', '(program)', '(root)']

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
    /** Prints what each thread of each process has spent its time on. */
    report(pids: Record<string, number>, intents: number): void {
      if (!folder) return
      for (const [name, pid] of Object.entries(pids)) {
        for (const file of readdirSync(folder).filter((one) => one.startsWith(`${pid}.`))) {
          const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile
          const thread = file.split('.')[1] === '0' ? name : `${name}, thread ${file.split('.')[1]}`
          tell(thread, profile, intents)
        }
      }
    },
  }
}

function tell(thread: string, profile: Profile, intents: number): void {
  const own = ownTimes(profile)
  const busy = profile.nodes.filter(({ callFrame }) => !idle.includes(callFrame.functionName))
  const total = busy.reduce((sum, { id }) => sum + (own.get(id) ?? 0), 0)
  const per = (us: number) => (us / 1_000 / intents).toFixed(2)
  console.log(`\n${thread}: ${per(total)} ms of JavaScript per intent`)
  for (const [title, nameOf] of [
    ['by place', placeOf],
    ['by function', functionOf],
  ] as const) {
    const sums = new Map<string, number>()
    for (const { id, callFrame } of busy) {
      const name = nameOf(callFrame)
      sums.set(name, (sums.get(name) ?? 0) + (own.get(id) ?? 0))
    }
    console.log(`  ${title}`)
    for (const [name, us] of [...sums].sort(([, a], [, b]) => b - a).slice(0, LINES)) {
      console.log(
        `  ${per(us).padStart(8)} ms ${((100 * us) / total).toFixed(1).padStart(5)} %  ${name}`,
      )
    }
  }
  console.log('  with what it calls')
  const inclusive = inclusiveTimes(profile, own)
  for (const [name, us] of [...inclusive].sort(([, a], [, b]) => b - a).slice(0, 2 * LINES)) {
    console.log(
      `  ${per(us).padStart(8)} ms ${((100 * us) / total).toFixed(1).padStart(5)} %  ${name}`,
    )
  }
}

function ownTimes({ samples, timeDeltas }: Profile): Map<number, number> {
  const own = new Map<number, number>()
  for (const [i, id] of samples.entries()) own.set(id, (own.get(id) ?? 0) + (timeDeltas[i] ?? 0))
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
