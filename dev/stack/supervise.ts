import { setTimeout as sleep } from 'node:timers/promises'
import pc from 'picocolors'
import { endProcess, identify } from '../state/processes.js'
import { UserError, say, sign } from '../terminal.js'

/** A running part. `stop` resolves once its process has ended. It kills a process that does not exit in time. */
export type Running = { pid: number; stop(): Promise<void> }

export type PartHooks = {
  /** Must be called as soon as the process exists, so that the next start finds it if this process is killed. */
  onSpawn(pid: number): void
  /** Must be called when a running part ends unexpectedly. `how`: the signal's name, else a short reason. */
  onExit(how: string): void
}

/** A process that ended before it was up. `how`: as in `onExit`. */
export class StartFailure extends UserError {
  readonly how: string

  constructor(name: string, how: string, logFile: string) {
    super(`${name} did not start (${how}). See ${logFile}`)
    this.how = how
  }
}

/** A process of the stack. `start` resolves once it serves. */
export type Part = { name: string; start(hooks: PartHooks): Promise<Running> }

type SupervisorOptions = {
  /** Names in stop order. The names of one stage stop together. */
  stopOrder: string[][]
  /** Called at every change with the running and starting processes. */
  onPids(pids: Record<string, number>): void
  /** Called after a part is up again. */
  onBack?(name: string): void
  /** Called when a part that was up cannot be restarted. It stays down, and the others keep running. */
  onGiveUp(error: UserError): void
  /** Delay before a restart, doubled with each failure. */
  backoffMs?: number
  /** Consecutive failed restarts before a part that was up is given up. */
  tries?: number
}

export type Supervisor = ReturnType<typeof createSupervisor>

/** A part that stayed up this long is healthy. Its next exit counts as the first one. */
const HEALTHY_MS = 30_000
const FIRST_BACKOFF_MS = 250
/** Limits the cost of a part that fails repeatedly, and restarts it soon after the cause is gone. */
const LONGEST_BACKOFF_MS = 5_000
/** A first start gives up early, so that the user sees the reason soon. */
const FIRST_TRIES = 4
/** For a part that was up. Together at least 18 s, in which its dependency may come back. */
const TRIES = 8
const STARTING_GRACE_MS = 500

type Shared = {
  options: SupervisorOptions
  /** Aborts when the stack stops. No part starts afterwards. */
  signal: AbortSignal
  pids: Map<string, number>
  running: Map<string, Running>
  /** A stop waits for parts that are starting, because their process may not be known yet. */
  follow<T>(work: Promise<T>): Promise<T>
}

/**
 * Keeps parts running: restarts a part whenever it ends, and prints a line for it. Gives up only a part that
 * repeatedly fails to start.
 */
export function createSupervisor(options: SupervisorOptions) {
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

  /** Stops all parts in order, even if one of them reports an error. Idempotent. */
  async function stop(): Promise<void> {
    stopping.abort()
    for (const stage of options.stopOrder) await Promise.all(stage.map(stopPart))
    await Promise.all(onTheWay)
  }

  async function stopPart(name: string): Promise<void> {
    try {
      await (running.get(name)?.stop() ?? endStarting(pids.get(name)))
    } catch (error) {
      say(`  ${sign.failed} ${name}: ${(error as Error).message}`)
    }
  }

  /** Kills all parts at once. None can save its state. */
  function kill(): void {
    stopping.abort()
    for (const pid of pids.values()) {
      if (identify(pid)) process.kill(pid, 'SIGKILL')
    }
  }

  const shared = { options, signal: stopping.signal, pids, running, follow }
  return {
    /** Resolves when the part is up for the first time. Throws the last reason when it does not come up. */
    start: (part: Part) => follow(keepUp(part, shared)),
    stop,
    kill,
    pids: () => Object.fromEntries(pids),
  }
}

/** A part that is still starting has no state to save. */
async function endStarting(pid = 0): Promise<void> {
  const process = identify(pid)
  if (process) await endProcess(process, 'SIGTERM', STARTING_GRACE_MS)
}

function keepUp(part: Part, shared: Shared): Promise<Running> {
  const { options, signal, pids, running, follow } = shared
  const { tries: triesAgain = TRIES } = options
  let upSince = Number.NaN
  let ends = 0

  async function launch(): Promise<Running> {
    signal.throwIfAborted()
    const up = await part.start({ onSpawn, onExit })
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
    if (Date.now() - upSince > HEALTHY_MS) ends = 0
    void follow(bringBack(how))
  }

  async function bringUp(tries: number): Promise<Running> {
    for (let failures = 0; ;) {
      const result = await launch().catch(explain)
      if (!(result instanceof UserError)) return result
      if (!(result instanceof StartFailure && isKill(result.how))) failures++
      if (signal.aborted || failures >= tries) throw result
      say(`  ${sign.again} ${result.message}; restarting it`)
      await pause(failures, shared)
    }
  }

  async function bringBack(how: string): Promise<void> {
    if (signal.aborted) return
    say(`  ${sign.again} ${part.name} ended (${how}); restarting it`)
    await pause(isKill(how) ? 0 : ends++, shared)
    const result = await bringUp(triesAgain).catch(explain)
    if (signal.aborted) return
    if (result instanceof UserError) return giveUp(result)
    sayBack(part.name, result.pid)
    options.onBack?.(part.name)
  }

  function giveUp({ message }: UserError): void {
    pids.delete(part.name)
    options.onPids(Object.fromEntries(pids))
    const advice = `Given up after ${triesAgain} tries; npm start brings it back. The other parts go on serving.`
    options.onGiveUp(new UserError(`${message}\n${advice}`))
  }

  return bringUp(FIRST_TRIES)
}

/** After the first failure as long as after a kill, then doubled each time. */
async function pause(failures: number, { options, signal }: Shared): Promise<void> {
  const waitMs = (options.backoffMs ?? FIRST_BACKOFF_MS) * 2 ** Math.max(0, failures - 1)
  await sleep(Math.min(waitMs, LONGEST_BACKOFF_MS), undefined, { signal }).catch(() => undefined)
}

/** A killed process leaves no reason. That counts as no failure, and the restart is immediate. */
const isKill = (how: string) => how === 'SIGKILL' || how === 'SIGTERM'

/** A part fails to start for a reason on the user's machine, and its message names the reason. */
function explain(error: Error): UserError {
  return error instanceof UserError ? error : new UserError(error.message, { cause: error })
}

function sayBack(name: string, pid: number): void {
  say(`  ${sign.done} ${name} is back ${pc.dim(`pid ${pid}`)}`)
}
