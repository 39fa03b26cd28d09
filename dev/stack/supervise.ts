import { setTimeout as sleep } from 'node:timers/promises'
import pc from 'picocolors'
import { endProcess, identify } from '../state/processes.js'
import { Explained, say, sign } from '../terminal.js'

/** A part that is up. `stop` resolves once it is gone, and kills it when it does not go by itself. */
export type Running = { pid: number; stop(): Promise<void> }

export type Hooks = {
  /** Must be called as soon as there is a process: it is noted for the case that this one is killed. */
  onSpawn(pid: number): void
  /** To be called when a part that was up ends unasked. `how`: the signal's name, else why in a few words. */
  onExit(how: string): void
}

/** A process that ended before it was up, `how` being as in `onExit`. */
export class StartFailure extends Explained {
  readonly how: string

  constructor(name: string, how: string, logFile: string) {
    super(`${name} did not start (${how}). See ${logFile}`)
    this.how = how
  }
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
  /** Called when a part that was up does not come up again. Nothing starts it any more; the others go on. */
  onGiveUp(error: Explained): void
  /** Wait before a new start, doubled with each failure. */
  backoffMs?: number
  /** Starts in a row that may fail before a part that was up is given up. */
  tries?: number
}

export type Supervisor = ReturnType<typeof createSupervisor>

/** A part that stayed up this long is healthy: an end after it counts as the first one. */
const HEALTHY_MS = 30_000
const FIRST_BACKOFF_MS = 250
/** What ends or fails by itself again and again costs little so, and is back soon once its reason is gone. */
const LONGEST_BACKOFF_MS = 5_000
/** Whoever waits for the stack shall hear soon why it cannot be had. */
const FIRST_TRIES = 4
/** Of a part that was up. Together 18 s at least, in which what it needs may come back. */
const TRIES = 8
const STARTING_GRACE_MS = 500

type Shared = {
  options: Options
  /** Aborts when the stack ends: nothing is started from then on. */
  signal: AbortSignal
  pids: Map<string, number>
  running: Map<string, Running>
  /** A stop waits for what is on its way up: it may have a process that is not known yet. */
  follow<T>(work: Promise<T>): Promise<T>
}

/**
 * Keeps parts running: one that ends is started again, with a line that says so, however often it ends. Only
 * what fails to come up, time after time and by itself, is given up.
 */
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

  /** Ends every part in its turn, also where one says that it could not end well. Safe to call twice. */
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

  /** Ends every part at once, without giving any a chance to save its state. */
  function kill(): void {
    stopping.abort()
    for (const pid of pids.values()) {
      if (identify(pid)) process.kill(pid, 'SIGKILL')
    }
  }

  const shared = { options, signal: stopping.signal, pids, running, follow }
  return {
    /** Resolves when the part is up for the first time; throws the last reason when it does not come up. */
    start: (part: Part) => follow(keepUp(part, shared)),
    stop,
    kill,
    pids: () => Object.fromEntries(pids),
  }
}

/** A part that is still coming up has nothing to save. */
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
      if (!(result instanceof Explained)) return result
      if (!(result instanceof StartFailure && isKill(result.how))) failures++
      if (signal.aborted || failures >= tries) throw result
      say(`  ${sign.again} ${result.message}; starting it again`)
      await pause(failures, shared)
    }
  }

  async function bringBack(how: string): Promise<void> {
    if (signal.aborted) return
    say(`  ${sign.again} ${part.name} ended (${how}); starting it again`)
    await pause(isKill(how) ? 0 : ends++, shared)
    const result = await bringUp(triesAgain).catch(explain)
    if (signal.aborted) return
    if (result instanceof Explained) return giveUp(result)
    sayBack(part.name, result.pid)
    options.onBack?.(part.name)
  }

  function giveUp({ message }: Explained): void {
    pids.delete(part.name)
    options.onPids(Object.fromEntries(pids))
    const advice = `Given up after ${triesAgain} tries; npm start brings it back. The other parts go on serving.`
    options.onGiveUp(new Explained(`${message}\n${advice}`))
  }

  return bringUp(FIRST_TRIES)
}

/** After the first failure as long as after a kill, then twice as long each time. */
async function pause(failures: number, { options, signal }: Shared): Promise<void> {
  const waitMs = (options.backoffMs ?? FIRST_BACKOFF_MS) * 2 ** Math.max(0, failures - 1)
  await sleep(Math.min(waitMs, LONGEST_BACKOFF_MS), undefined, { signal }).catch(() => undefined)
}

/** Whoever kills a process says nothing about it: that counts as no failure, and it is back without delay. */
const isKill = (how: string) => how === 'SIGKILL' || how === 'SIGTERM'

/** Whatever keeps a part from coming up is about the user's machine, and its message says what. */
function explain(error: Error): Explained {
  return error instanceof Explained ? error : new Explained(error.message, { cause: error })
}

function sayBack(name: string, pid: number): void {
  say(`  ${sign.done} ${name} is back ${pc.dim(`pid ${pid}`)}`)
}
