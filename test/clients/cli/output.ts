export type CommandResult = { code: number | null; stdout: string; stderr: string }

export type RunningCommand = {
  /** The output so far. */
  stdout(): string
  stderr(): string
  /** Resolves when the output satisfies the predicate. Rejects when the command exits first. */
  until(passes: (stdout: string, stderr: string) => boolean): Promise<void>
  kill(signal: NodeJS.Signals): void
  ended: Promise<CommandResult>
}

type CommandProcess = { exit: Promise<number | null>; kill(signal: NodeJS.Signals): void }

/** Collects the output of one command and wakes pending `until` calls. */
export function collectOutput(onText: (text: string) => void) {
  const output = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const one of waiting) one()
    waiting.clear()
  }
  return {
    write(stream: keyof typeof output, text: string): void {
      output[stream] += text
      onText(text)
      wake()
    },

    /** `exit` resolves after all output is written. */
    toRunning({ exit, kill }: CommandProcess): RunningCommand {
      let hasEnded = false
      const ended = exit.then((code): CommandResult => {
        hasEnded = true
        wake()
        return { code, ...output }
      })
      return {
        ended,
        kill,
        stdout: () => output.stdout,
        stderr: () => output.stderr,
        async until(passes) {
          while (!passes(output.stdout, output.stderr)) {
            if (hasEnded) throw new Error(`The command ended: ${output.stdout}${output.stderr}`)
            await new Promise<void>((resolve) => waiting.add(resolve))
          }
        },
      }
    },
  }
}
