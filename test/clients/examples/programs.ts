import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { until } from '../../e2e/stack.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export type Program = {
  output(): string
  /** Null while the program runs. */
  code(): number | null
  kill(signal: NodeJS.Signals): Promise<void>
}
type ProgramOptions = { args: string[]; folder?: string; env: NodeJS.ProcessEnv }

/** Starts a program in a folder of the repository, as in a terminal. */
export function startProgram(
  command: string,
  { args, folder = '.', env }: ProgramOptions,
): Program {
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
  // `close` also waits for the end of the output.
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

/** Runs a program and returns its output. Throws when its exit code is not 0. */
export async function run(command: string, options: ProgramOptions): Promise<string> {
  const program = startProgram(command, options)
  await until(
    () => Promise.resolve(program.code()),
    (code) => code !== null,
  )
  await program.kill('SIGTERM')
  if (program.code() !== 0) throw new Error(`${command} failed:\n${program.output()}`)
  return program.output()
}
