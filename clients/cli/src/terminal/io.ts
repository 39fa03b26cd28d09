import pc from 'picocolors'

type Colors = ReturnType<typeof pc.createColors>

/** One of the two streams of a command. */
export type Output = {
  write(text: string): void
  /** Whether the output is an interactive terminal. */
  isTerminal: boolean
  size(): { columns: number; rows: number }
  paint: Colors
}

/** The streams of a command. Results go to `out`, notes and errors to `err`. */
export type Io = {
  env: NodeJS.ProcessEnv
  out: Output
  err: Output
  input: NodeJS.ReadStream
  /** Aborts at the first Ctrl-C. */
  interrupted: AbortSignal
  /** The service that the command calls, without `/v1`. Set when its client opens. */
  host?: string
}

/** The streams of this process. */
export function openIo(interrupted: AbortSignal): Io {
  const { env, stdin } = process
  const out = toOutput(process.stdout, env)
  return { env, out, err: toOutput(process.stderr, env), input: stdin, interrupted }
}

function toOutput(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Output {
  const isTerminal = stream.isTTY === true && env.TERM !== 'dumb'
  // Any non-empty value disables colours: https://no-color.org
  const isColored = !env.NO_COLOR && (isTerminal || Boolean(env.FORCE_COLOR))
  return {
    write: (text) => void stream.write(text),
    isTerminal,
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    paint: pc.createColors(isColored),
  }
}

export const signs = { done: '✓', failed: '✗', warning: '!', waiting: '·' } as const
