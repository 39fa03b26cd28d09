import pc from 'picocolors'

type Colors = ReturnType<typeof pc.createColors>

/** One of the two streams of a command. */
export type Output = {
  write(text: string): void
  /** Whether a person reads it. */
  isTerminal: boolean
  size(): { columns: number; rows: number }
  paint: Colors
}

/** What a command speaks through: results to `out`, everything that is told besides to `err`. */
export type Io = {
  env: NodeJS.ProcessEnv
  out: Output
  err: Output
  input: NodeJS.ReadStream
  /** Aborts at the first Ctrl-C. */
  interrupted: AbortSignal
}

/** The streams of this process. */
export function openIo(interrupted: AbortSignal): Io {
  const { env, stdin } = process
  const out = toOutput(process.stdout, env)
  return { env, out, err: toOutput(process.stderr, env), input: stdin, interrupted }
}

function toOutput(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Output {
  const isTerminal = stream.isTTY === true && env.TERM !== 'dumb'
  // https://no-color.org: whatever it says, as long as it says something.
  const isColored = !env.NO_COLOR && (isTerminal || Boolean(env.FORCE_COLOR))
  return {
    write: (text) => void stream.write(text),
    isTerminal,
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    paint: pc.createColors(isColored),
  }
}

export const signs = { done: '✓', failed: '✗', warning: '!', waiting: '·' } as const
