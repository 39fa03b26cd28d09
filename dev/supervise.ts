import { setTimeout as sleep } from 'node:timers/promises'
import pc from 'picocolors'
import { endProcess, identify } from './processes.js'
import { Explained, formatSeconds, say, sign } from './terminal.js'

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
const longestBackoffMs = 5_000
const tries = 8

/** Keeps parts running: one that ends is started again, with a line that says so. */
export function createSupervisor(options: Options) {
  const { stopOrder, onPids, onBack, onGiveUp, backoffMs = 250 } = options
  const pids = new Map<string, number>()
  const running = new Map<string, Running>()
  const onTheWay = new Set<Promise<void>>()
  const stopping = new AbortController()
  const tell = () => onPids(Object.fromEntries(pids))

  async function start(part: Part): Promise<Running> {
    let upSince = Number.NaN
    let failures = 0
    const launch = async () => {
      stopping.signal.throwIfAborted()
      const up = await part.start({
        onSpawn(pid) {
          pids.set(part.name, pid)
          tell()
        },
        onExit(how) {
          running.delete(part.name)
          if (Date.now() - upSince > healthyMs) failures = 0
          void follow(bringBack(how))
        },
      })
      upSince = Date.now()
      running.set(part.name, up)
      if (stopping.signal.aborted) await up.stop()
      return up
    }
    const bringBack = async (how: string) => {
      for (let reason = how; !stopping.signal.aborted;) {
        if (failures >= tries) {
          onGiveUp(new Explained(`${part.name} does not stay up (${reason}).`))
          return
        }
        const waitMs = Math.min(backoffMs * 2 ** failures++, longestBackoffMs)
        say(`  ${sign.again} ${part.name} ended (${reason}); starting it again`)
        await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined)
        const begun = Date.now()
        const result = await follow(launch()).catch((error: unknown) => error as Error)
        if (!(result instanceof Error)) {
          const tookMs = formatSeconds(Date.now() - begun)
          say(`  ${sign.done} ${part.name} is back ${pc.dim(`pid ${result.pid}, ${tookMs}`)}`)
          onBack?.(part.name)
          return
        }
        reason = result.message
      }
    }
    return follow(launch())
  }

  /** A stop waits for what is on its way up: it may have a process that is not known yet. */
  function follow<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => undefined,
      () => undefined,
    )
    onTheWay.add(settled)
    void settled.then(() => onTheWay.delete(settled))
    return work
  }

  /** Ends every part in its turn. Safe to call twice. */
  async function stop(): Promise<void> {
    stopping.abort()
    for (const stage of stopOrder) {
      const parts = stage.map((name) => running.get(name)?.stop() ?? killStarting(name))
      await Promise.all(parts)
    }
    await Promise.all(onTheWay)
  }

  /** A part that is still coming up has nothing to save. */
  async function killStarting(name: string): Promise<void> {
    const process = identify(pids.get(name) ?? 0)
    if (process) await endProcess(process, 'SIGTERM', 500)
  }

  /** Ends every part at once, without giving any a chance to save its state. */
  function kill(): void {
    stopping.abort()
    for (const pid of pids.values()) {
      if (identify(pid)) process.kill(pid, 'SIGKILL')
    }
  }

  return { start, stop, kill, pids: () => Object.fromEntries(pids) }
}
