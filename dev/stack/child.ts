import { spawn, type ChildProcess } from 'node:child_process'
import * as fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { rootFolder } from '../state/state.js'
import { StartFailure, type PartHooks, type Running } from './supervise.js'

type ChildSpec = {
  name: string
  command: string
  args: string[]
  env?: NodeJS.ProcessEnv
  logFile: string
  /** `message`: the child sends `{ type: 'ready' }` over IPC. A function is polled until it returns true. */
  ready: 'message' | (() => Promise<boolean>)
  /** Time from SIGTERM to SIGKILL. */
  stopTimeoutMs: number
}

/** The slowest child compiles its workflows first: 2 s alone, several on a busy machine. */
const READY_TIMEOUT_MS = 60_000

/**
 * Starts a program with its output in a log file. Resolves once it is ready.
 *
 * `detached`: a Ctrl-C in the terminal reaches only this process, which then ends its children in order.
 *
 * @throws {StartFailure} with the last line of the log when the program ends or is not ready in time.
 */
export async function startChild(
  spec: ChildSpec,
  { onSpawn, onExit }: PartHooks,
): Promise<Running> {
  const isNode = spec.ready === 'message'
  const log = fs.openSync(spec.logFile, 'a', 0o600)
  const child = spawn(spec.command, spec.args, {
    cwd: rootFolder,
    env: spec.env ?? process.env,
    detached: true,
    stdio: ['ignore', log, log, ...(isNode ? ['ipc' as const] : [])],
  })
  fs.closeSync(log)
  if (child.pid) onSpawn(child.pid)

  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? describeExit(code, spec.logFile)))
  })
  const waiting = new AbortController()
  const { signal } = waiting
  const late = sleep(READY_TIMEOUT_MS, 'not ready in time', { signal }).catch(() => '')
  const ready = spec.ready === 'message' ? waitForMessage(child) : askUntilTrue(spec.ready, signal)
  const failure = await Promise.race([ended, late, ready])
  waiting.abort()
  if (failure !== 'ready') {
    child.kill('SIGKILL')
    throw new StartFailure(spec.name, failure, spec.logFile)
  }

  let isStopping = false
  void ended.then((how) => {
    if (!isStopping) onExit(how)
  })
  return {
    pid: child.pid ?? 0,
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), spec.stopTimeoutMs)
      await ended
      clearTimeout(killer)
    },
  }
}

function waitForMessage(child: ChildProcess): Promise<'ready'> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if ((message as { type?: string }).type === 'ready') resolve('ready')
    })
  })
}

async function askUntilTrue(ask: () => Promise<boolean>, signal: AbortSignal): Promise<'ready'> {
  while (!signal.aborted && !(await ask().catch(() => false))) await sleep(20)
  return 'ready'
}

/** The exit code and the reason from the program's log, if there is one. */
function describeExit(code: number | null, logFile: string): string {
  const lines = readEnd(logFile).trimEnd().split('\n').slice(-20).reverse()
  const reason = lines.map(readReason).find(Boolean)
  return reason ? `exit ${code}: ${reason.slice(0, 200)}` : `exit ${code}`
}

/** The message of an error in a JSON log, or a whole line of another log. Empty when the line explains no exit. */
function readReason(line: string): string {
  try {
    const entry = JSON.parse(line) as { level: number; msg?: string; err?: { message?: string } }
    return entry.level >= PINO_ERROR_LEVEL ? (entry.err?.message ?? entry.msg ?? '') : ''
  } catch {
    return /error|fatal|panic|cannot|failed/i.test(line) ? line.trim() : ''
  }
}

/** @see https://getpino.io/#/docs/api?id=loggerlevels-object */
const PINO_ERROR_LEVEL = 50

function readEnd(file: string, bytes = 8_192): string {
  const end = fs.openSync(file, 'r')
  const { size } = fs.fstatSync(end)
  const text = Buffer.alloc(Math.min(bytes, size))
  fs.readSync(end, text, 0, text.length, size - text.length)
  fs.closeSync(end)
  return text.toString()
}
