import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import pc from 'picocolors'
import { run } from '../../../clients/cli/src/program.js'
import { compiledCli } from '../../support/temporal/workflowBundle.js'
import { collectOutput, type CommandResult, type RunningCommand } from './output.js'
import type { Io, Output } from '../../../clients/cli/src/terminal/io.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export type RunOptions = { env?: NodeJS.ProcessEnv; input?: string }

/** The program as installed for one user, with its own home folder. */
export type CliUser = {
  /** `XDG_CONFIG_HOME`. */
  home: string
  file: string
  /** Runs a command line in this process. `kill` acts as the first Ctrl-C. */
  start(args: string[], options?: RunOptions): RunningCommand
  /** Runs `start` until it exits. */
  run(args: string[], options?: RunOptions): Promise<CommandResult>
  /** Runs a command line in its own process, for exit codes and signals. */
  spawn(args: string[], options?: RunOptions): RunningCommand
  /** The output of all commands. */
  allOutput(): string
  leave(): void
}

export function createCliUser(env: NodeJS.ProcessEnv = {}): CliUser {
  const home = mkdtempSync(join(tmpdir(), 'steward cli '))
  const running = new Set<RunningCommand>()
  let allOutput = ''
  const onText = (text: string) => (allOutput += text)
  const baseEnv = {
    ...{ PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, TZ: 'UTC' },
    // No devnet of this checkout.
    ...{ STEWARD_HOME: join(home, 'none') },
    ...env,
  }
  const keep = (one: RunningCommand) => {
    running.add(one)
    void one.ended.finally(() => running.delete(one))
    return one
  }
  const start = (args: string[], { env: more = {}, input = '' }: RunOptions = {}) =>
    keep(startHere(args, { env: { ...baseEnv, ...more }, input }, onText))
  return {
    home,
    file: join(home, 'steward', 'config.json'),
    start,
    run: (args, options) => start(args, options).ended,
    spawn(args, { env: more = {}, input = '' } = {}) {
      const child = spawn(process.execPath, [compiledCli(), ...args], {
        ...{ cwd: root, env: { ...baseEnv, ...more } },
      })
      child.stdin.on('error', () => undefined).end(input)
      return keep(followChild(child, onText))
    },
    allOutput: () => allOutput,
    leave() {
      for (const one of running) one.kill('SIGKILL')
      rmSync(home, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

type ProgramInput = { env: NodeJS.ProcessEnv; input: string }

/** Does what `clients/cli/src/main.ts` does, with streams and signals of the test. */
function startHere(
  args: string[],
  { env, input }: ProgramInput,
  onText: (text: string) => void,
): RunningCommand {
  const interrupted = new AbortController()
  const output = collectOutput(onText)
  const toOutput = (stream: 'stdout' | 'stderr'): Output => ({
    write: (text) => output.write(stream, text),
    isTerminal: false,
    size: () => ({ columns: 80, rows: 24 }),
    paint: pc.createColors(false),
  })
  const io: Io = {
    env,
    out: toOutput('stdout'),
    err: toOutput('stderr'),
    input: new PassThrough().end(input) as unknown as NodeJS.ReadStream,
    interrupted: interrupted.signal,
  }
  return output.toRunning({ exit: run(io, args), kill: () => interrupted.abort() })
}

function followChild(child: ChildProcess, onText: (text: string) => void): RunningCommand {
  const output = collectOutput(onText)
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => output.write(name, text))
  }
  const exit = once(child, 'close').then(([code]) => code as number | null)
  return output.toRunning({ exit, kill: (signal) => void child.kill(signal) })
}

/** Runs the program on a pseudo-terminal. `stdout` is everything that the terminal shows. */
export function onTerminal(user: CliUser, args: string[], env: NodeJS.ProcessEnv = {}) {
  const words = [process.execPath, compiledCli(), ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', words, '/dev/null'], {
    cwd: root,
    env: {
      ...{ PATH: process.env.PATH, HOME: user.home, XDG_CONFIG_HOME: user.home, TZ: 'UTC' },
      ...{ TERM: 'xterm', SHELL: '/bin/sh', STEWARD_HOME: join(user.home, 'none'), ...env },
    },
  })
  const running = followChild(child, () => undefined)
  return { ...running, type: (text: string) => child.stdin.write(text) }
}

export const linesOf = (text: string): string[] => text.split('\n').filter(Boolean)
export const jsonLines = (text: string) => linesOf(text).map((line) => JSON.parse(line) as unknown)
