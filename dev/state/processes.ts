import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process and its start time. A process id alone is soon reused by another program. */
export type ProcessId = { pid: number; startedAt: string }

type Stat = { parent: number; startedAt: string; isZombie: boolean }

/** The identity of a running process; undefined when it is missing or a zombie. */
export function identify(pid: number): ProcessId | undefined {
  const stat = readStat(pid)
  return stat && !stat.isZombie ? { pid, startedAt: stat.startedAt } : undefined
}

/** Whether exactly this process still runs. */
export function isRunning({ pid, startedAt }: ProcessId): boolean {
  return identify(pid)?.startedAt === startedAt
}

/**
 * Ends a process that may not be our child: sends `signal`, and kills after `graceMs`. Leaves another process with
 * the same id alone.
 */
export async function endProcess(
  process: ProcessId,
  signal: NodeJS.Signals,
  graceMs: number,
): Promise<void> {
  for (const [each, waitMs] of [[signal, graceMs] as const, ['SIGKILL', 2_000] as const]) {
    if (!isRunning(process)) return
    sendSignal(process.pid, each)
    const deadline = Date.now() + waitMs
    while (isRunning(process) && Date.now() < deadline) await sleep(20)
  }
}

/**
 * The processes between the user's shell and this one: npm, its shell, tsx. When one of them was killed, the user
 * ended the command, although no signal arrived.
 */
export function findLaunchers(): ProcessId[] {
  const chain: ProcessId[] = []
  for (let pid = process.ppid; pid > 1 && chain.length < 5; pid = readStat(pid)?.parent ?? 0) {
    const launcher = identify(pid)
    if (!launcher) return []
    chain.push(launcher)
    if (/(^|\/)npm( |\0|-cli|$)/.test(commandOf(pid))) return chain
  }
  return chain.slice(0, 1).filter(({ pid }) => commandOf(pid).includes('tsx'))
}

/** Age of the user's command in ms: since npm started, when npm launched this process. */
export function commandAgeMs(): number {
  const first = findLaunchers().at(-1)
  const ownMs = performance.now()
  if (!first || !fs.existsSync('/proc/uptime')) return ownMs
  const uptimeSeconds = parseFloat(fs.readFileSync('/proc/uptime', 'utf8'))
  return Math.max(ownMs, (uptimeSeconds - Number(first.startedAt) / CLOCK_TICKS_PER_SECOND) * 1000)
}

/** The unit of start times in /proc. @see man 5 proc, sysconf(_SC_CLK_TCK): 100 on every Linux platform of Node. */
const CLOCK_TICKS_PER_SECOND = 100

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

function commandOf(pid: number): string {
  try {
    if (fs.existsSync('/proc/self')) return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
  } catch {
    return ''
  }
}

function readStat(pid: number): Stat | undefined {
  try {
    return fs.existsSync('/proc/self') ? readProcStat(pid) : readPs(pid)
  } catch {
    return undefined
  }
}

/** @see man 5 proc: the fields follow the command's closing parenthesis; state, parent, …, start time. */
function readProcStat(pid: number): Stat {
  const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return {
    isZombie: fields[0] === 'Z' || fields[0] === 'X',
    parent: Number(fields[1]),
    startedAt: fields[19] ?? '',
  }
}

function readPs(pid: number): Stat | undefined {
  const text = execFileSync('ps', ['-o', 'stat=,ppid=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [state, parent, ...startedAt] = text.trim().split(/\s+/)
  return state
    ? { isZombie: state.startsWith('Z'), parent: Number(parent), startedAt: startedAt.join(' ') }
    : undefined
}
