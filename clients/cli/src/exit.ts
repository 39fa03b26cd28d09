/** Exit codes of a command, for scripts that read `$?`. */
export const exitCodes = {
  /** Success. A followed intent has completed. */
  done: 0,
  /** Invalid command line, or a missing option. Nothing was sent. */
  usage: 1,
  /** The API rejected the call with a reason. */
  refused: 2,
  /** The intent failed or was cancelled. */
  failed: 3,
  /** `--timeout` expired. The intent continues. */
  timeout: 4,
  /** The API does not answer or returned a server error. */
  unreachable: 5,
  /** Ctrl-C. The intent continues. */
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Ends the command. `message`: the problem in one line. `hints`: what the user can do. */
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

/** The command line is invalid. Nothing was sent. */
export const misused = (message: string, ...hints: string[]) =>
  new CommandError(exitCodes.usage, message, hints)
