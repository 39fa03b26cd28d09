/** How a command ends, for scripts that ask `$?`. */
export const exitCodes = {
  /** Done; of an intent that was followed: completed. */
  done: 0,
  /** The command cannot be understood, or lacks something: nothing was sent. */
  usage: 1,
  /** The API refused the call, and said why. */
  refused: 2,
  /** The intent failed or was cancelled. */
  failed: 3,
  /** The time of `--timeout` was over. What was begun goes on. */
  timeout: 4,
  /** The API does not answer, or has a fault of its own. */
  unreachable: 5,
  /** Ctrl-C. What was begun goes on. */
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** A reason to end that tells all there is to know: `message` in a line, `hints` what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: ExitCode
  readonly hints: readonly string[]

  constructor(exitCode: ExitCode, message: string, hints: readonly string[] = []) {
    super(message)
    this.exitCode = exitCode
    this.hints = hints
  }
}

/** The command cannot be done as it was given; nothing was sent. */
export const misused = (message: string, ...hints: string[]) =>
  new CommandError(exitCodes.usage, message, hints)
