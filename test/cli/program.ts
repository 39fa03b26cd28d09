import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = ['--import', 'tsx', join(root, 'cli/src/main.ts')]

export type Ended = { code: number | null; stdout: string; stderr: string }
export type Wishes = { env?: NodeJS.ProcessEnv; input?: string }

export type Running = {
  /** What it has said so far. */
  stdout(): string
  stderr(): string
  /** Resolves when its output passes; fails when it ends before. */
  until(passes: (stdout: string, stderr: string) => boolean): Promise<void>
  kill(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

/** The program as a person on this machine has it, with a home of its own. */
export type Person = {
  /** `XDG_CONFIG_HOME`. */
  home: string
  file: string
  run(args: string[], wishes?: Wishes): Promise<Ended>
  start(args: string[], wishes?: Wishes): Running
  /** Everything that any of the calls has said. */
  heard(): string
  leave(): void
}

export function createPerson(env: NodeJS.ProcessEnv = {}): Person {
  const home = mkdtempSync(join(tmpdir(), 'steward cli '))
  const running = new Set<Running>()
  let heard = ''
  const surroundings = {
    ...{ PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, TZ: 'UTC' },
    // No devnet of this checkout.
    ...{ STEWARD_HOME: join(home, 'none') },
    ...env,
  }
  const start = (args: string[], { env: more = {}, input = '' }: Wishes = {}) => {
    const child = spawn(process.execPath, [...source, ...args], {
      ...{ cwd: root, env: { ...surroundings, ...more } },
    })
    child.stdin.on('error', () => undefined).end(input)
    const one = follow(child, (text) => (heard += text))
    running.add(one)
    void one.ended.then(() => running.delete(one))
    return one
  }
  return {
    home,
    file: join(home, 'steward', 'config.json'),
    start,
    run: (args, wishes) => start(args, wishes).ended,
    heard: () => heard,
    leave() {
      for (const one of running) one.kill('SIGKILL')
      rmSync(home, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

function follow(child: ChildProcess, onText: (text: string) => void): Running {
  const said = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const one of waiting) one()
  }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
      onText(text)
      wake()
    })
  }
  let isOver = false
  const ended = once(child, 'close').then(([code]): Ended => {
    isOver = true
    wake()
    return { code: code as number | null, ...said }
  })
  return {
    ended,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    kill: (signal) => void child.kill(signal),
    async until(passes) {
      while (!passes(said.stdout, said.stderr)) {
        if (isOver) throw new Error(`It ended: ${said.stdout}${said.stderr}`)
        await new Promise<void>((resolve) => {
          const one = () => {
            waiting.delete(one)
            resolve()
          }
          waiting.add(one)
        })
      }
    },
  }
}

/** The same program on a terminal, where a person types. Its answer is all that the terminal shows. */
export function onTerminal(person: Person, args: string[], env: NodeJS.ProcessEnv = {}) {
  const words = [process.execPath, ...source, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', words, '/dev/null'], {
    cwd: root,
    env: {
      ...{ PATH: process.env.PATH, HOME: person.home, XDG_CONFIG_HOME: person.home, TZ: 'UTC' },
      ...{ TERM: 'xterm', SHELL: '/bin/sh', STEWARD_HOME: join(person.home, 'none'), ...env },
    },
  })
  const running = follow(child, () => undefined)
  return { ...running, type: (text: string) => child.stdin.write(text) }
}

export const linesOf = (text: string): string[] => text.split('\n').filter(Boolean)
export const jsonLines = (text: string) => linesOf(text).map((line) => JSON.parse(line) as unknown)
