import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import pc from 'picocolors'
import { run } from '../../cli/src/program.js'
import { compiledCli } from '../support/temporal/workflowBundle.js'
import { collectOutput, type Ended, type Running } from './output.js'
import type { Io, Output } from '../../cli/src/terminal/io.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

export type Wishes = { env?: NodeJS.ProcessEnv; input?: string }

/** The program as a person on this machine has it, with a home of its own. */
export type Person = {
  /** `XDG_CONFIG_HOME`. */
  home: string
  file: string
  /** Runs a command line in this process. A kill is the first Ctrl-C. */
  start(args: string[], wishes?: Wishes): Running
  /** `start`, to its end. */
  run(args: string[], wishes?: Wishes): Promise<Ended>
  /** The same in a process of its own: for exit codes and signals. */
  spawn(args: string[], wishes?: Wishes): Running
  /** The output of all commands. */
  heard(): string
  leave(): void
}

export function createPerson(env: NodeJS.ProcessEnv = {}): Person {
  const home = mkdtempSync(join(tmpdir(), 'steward cli '))
  const running = new Set<Running>()
  let heard = ''
  const onText = (text: string) => (heard += text)
  const surroundings = {
    ...{ PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, TZ: 'UTC' },
    // No devnet of this checkout.
    ...{ STEWARD_HOME: join(home, 'none') },
    ...env,
  }
  const keep = (one: Running) => {
    running.add(one)
    void one.ended.finally(() => running.delete(one))
    return one
  }
  const start = (args: string[], { env: more = {}, input = '' }: Wishes = {}) =>
    keep(startHere(args, { env: { ...surroundings, ...more }, input }, onText))
  return {
    home,
    file: join(home, 'steward', 'config.json'),
    start,
    run: (args, wishes) => start(args, wishes).ended,
    spawn(args, { env: more = {}, input = '' } = {}) {
      const child = spawn(process.execPath, [compiledCli(), ...args], {
        ...{ cwd: root, env: { ...surroundings, ...more } },
      })
      child.stdin.on('error', () => undefined).end(input)
      return keep(followChild(child, onText))
    },
    heard: () => heard,
    leave() {
      for (const one of running) one.kill('SIGKILL')
      rmSync(home, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

type Surroundings = { env: NodeJS.ProcessEnv; input: string }

/** What `cli/src/main.ts` does with the streams and signals of its process. */
function startHere(
  args: string[],
  { env, input }: Surroundings,
  onText: (text: string) => void,
): Running {
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

function followChild(child: ChildProcess, onText: (text: string) => void): Running {
  const output = collectOutput(onText)
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => output.write(name, text))
  }
  const exit = once(child, 'close').then(([code]) => code as number | null)
  return output.toRunning({ exit, kill: (signal) => void child.kill(signal) })
}

/** The same program on a terminal, where a person types. Its answer is all that the terminal shows. */
export function onTerminal(person: Person, args: string[], env: NodeJS.ProcessEnv = {}) {
  const words = [process.execPath, compiledCli(), ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', words, '/dev/null'], {
    cwd: root,
    env: {
      ...{ PATH: process.env.PATH, HOME: person.home, XDG_CONFIG_HOME: person.home, TZ: 'UTC' },
      ...{ TERM: 'xterm', SHELL: '/bin/sh', STEWARD_HOME: join(person.home, 'none'), ...env },
    },
  })
  const running = followChild(child, () => undefined)
  return { ...running, type: (text: string) => child.stdin.write(text) }
}

export const linesOf = (text: string): string[] => text.split('\n').filter(Boolean)
export const jsonLines = (text: string) => linesOf(text).map((line) => JSON.parse(line) as unknown)
