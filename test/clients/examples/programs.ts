import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { until } from '../../e2e/stack.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export type Program = {
  output(): string
  /** Undefined while it runs. */
  code(): number | null
  kill(signal: NodeJS.Signals): Promise<void>
}
type Start = { args: string[]; folder?: string; env: NodeJS.ProcessEnv }

/** Starts a program as a reader would in a terminal, in a folder of the repository. */
export function startProgram(command: string, { args, folder = '.', env }: Start): Program {
  const child = spawn(command, args, {
    cwd: fileURLToPath(new URL(folder, `file://${root}`)),
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
  }
  // When its output has ended, too.
  const exited = once(child, 'close')
  return {
    output: () => printed,
    code: () => child.exitCode,
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      await exited
    },
  }
}

/** Runs a program to its end, and gives what it has printed; throws when it fails. */
export async function run(command: string, start: Start): Promise<string> {
  const program = startProgram(command, start)
  await until(
    () => Promise.resolve(program.code()),
    (code) => code !== null,
  )
  await program.kill('SIGTERM')
  if (program.code() !== 0) throw new Error(`${command} failed:\n${program.output()}`)
  return program.output()
}
