import { setTimeout as sleep } from 'node:timers/promises'
import pc from 'picocolors'
import { endProcess, identify } from '../state/processes.js'
import { Explained, say, sign } from '../terminal.js'

/** A part that is up. `stop` resolves once it is gone, and kills it when it does not go by itself. */
export type Running = { pid: number; stop(): Promise<void> }

export type Hooks = {
  /** Must be called as soon as there is a process: it is noted for the case that this one is killed. */
  onSpawn(pid: number): void
  /** To be called when a part that was up ends by itself. `how` says why, in a few words. */
  onExit(how: string): void
}

/** A process of the stack and how to bring it up; `start` resolves once it serves. */
export type Part = { name: string; start(hooks: Hooks): Promise<Running> }

type Options = {
  /** Names in the order in which they end; those of one stage end together. */
  stopOrder: string[][]
  /** Called at every change with the processes that run or are starting. */
  onPids(pids: Record<string, number>): void
  /** Called after a part is back up. */
  onBack?(name: string): void
  /** Called once when a part does not stay up. */
  onGiveUp(error: Explained): void
  /** Wait before the first new start, doubled at each further one. */
  backoffMs?: number
}

export type Supervisor = ReturnType<typeof createSupervisor>

/** A part that stayed up this long is healthy: an end after it counts as the first one. */
const healthyMs = 30_000
const firstBackoffMs = 250
const longestBackoffMs = 5_000
const tries = 8
const startingGraceMs = 500

type Shared = {
  options: Options
  /** Aborts when the stack ends: nothing is started from then on. */
  signal: AbortSignal
  pids: Map<string, number>
  running: Map<string, Running>
  /** A stop waits for what is on its way up: it may have a process that is not known yet. */
  follow<T>(work: Promise<T>): Promise<T>
}

/** Keeps parts running: one that ends is started again, with a line that says so. */
export function createSupervisor(options: Options) {
  const pids = new Map<string, number>()
  const running = new Map<string, Running>()
  const stopping = new AbortController()
  const onTheWay = new Set<Promise<unknown>>()

  function follow<T>(work: Promise<T>): Promise<T> {
    const settled = work.catch(() => undefined)
    onTheWay.add(settled)
    void settled.then(() => onTheWay.delete(settled))
    return work
  }

  /** Ends every part in its turn. Safe to call twice. */
  async function stop(): Promise<void> {
    stopping.abort()
    for (const stage of options.stopOrder) {
      const parts = stage.map((name) => running.get(name)?.stop() ?? endStarting(pids.get(name)))
      await Promise.all(parts)
    }
    await Promise.all(onTheWay)
  }

  /** Ends every part at once, without giving any a chance to save its state. */
  function kill(): void {
    stopping.abort()
    for (const pid of pids.values()) {
      if (identify(pid)) process.kill(pid, 'SIGKILL')
    }
  }

  const shared = { options, signal: stopping.signal, pids, running, follow }
  return {
    /** Resolves when the part is up for the first time; it throws when it does not come up. */
    start: (part: Part) => follow(keepUp(part, shared)),
    stop,
    kill,
    pids: () => Object.fromEntries(pids),
  }
}

/** A part that is still coming up has nothing to save. */
async function endStarting(pid = 0): Promise<void> {
  const process = identify(pid)
  if (process) await endProcess(process, 'SIGTERM', startingGraceMs)
}

function keepUp(part: Part, shared: Shared): Promise<Running> {
  const { options, signal, pids, running, follow } = shared
  let upSince = Number.NaN
  let failures = 0

  async function launch(): Promise<Running> {
    signal.throwIfAborted()
    const up = await part.start({ onSpawn, onExit }).catch(explain)
    upSince = Date.now()
    running.set(part.name, up)
    if (signal.aborted) await up.stop()
    return up
  }

  function onSpawn(pid: number): void {
    pids.set(part.name, pid)
    options.onPids(Object.fromEntries(pids))
  }

  function onExit(how: string): void {
    running.delete(part.name)
    if (Date.now() - upSince > healthyMs) failures = 0
    void follow(bringBack(how))
  }

  async function bringBack(how: string): Promise<void> {
    for (let reason = how; !signal.aborted;) {
      if (failures >= tries) {
        options.onGiveUp(new Explained(`${part.name} does not stay up (${reason}).`))
        return
      }
      say(`  ${sign.again} ${part.name} ended (${reason}); starting it again`)
      const waitMs = (options.backoffMs ?? firstBackoffMs) * 2 ** failures++
      await sleep(Math.min(waitMs, longestBackoffMs), undefined, { signal }).catch(() => undefined)
      const result = await launch().catch((error: unknown) => error as Error)
      if (!(result instanceof Error)) {
        sayBack(part.name, result.pid)
        options.onBack?.(part.name)
        return
      }
      reason = result.message
    }
  }

  return launch()
}

/** Whatever keeps a part from coming up is about the user's machine, and its message says what. */
function explain(error: Error): never {
  throw error instanceof Explained ? error : new Explained(error.message, { cause: error })
}

function sayBack(name: string, pid: number): void {
  say(`  ${sign.done} ${name} is back ${pc.dim(`pid ${pid}`)}`)
}
