export type Ended = { code: number | null; stdout: string; stderr: string }

export type Running = {
  /** The output so far. */
  stdout(): string
  stderr(): string
  /** Resolves when the output passes. Rejects when the command ends before. */
  until(passes: (stdout: string, stderr: string) => boolean): Promise<void>
  kill(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

type Command = { exit: Promise<number | null>; kill(signal: NodeJS.Signals): void }

/** Collects the output of one command, and wakes those that wait for it. */
export function collectOutput(onText: (text: string) => void) {
  const said = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const one of waiting) one()
    waiting.clear()
  }
  return {
    write(stream: keyof typeof said, text: string): void {
      said[stream] += text
      onText(text)
      wake()
    },

    /** `exit` resolves when the whole output was written. */
    toRunning({ exit, kill }: Command): Running {
      let hasEnded = false
      const ended = exit.then((code): Ended => {
        hasEnded = true
        wake()
        return { code, ...said }
      })
      return {
        ended,
        kill,
        stdout: () => said.stdout,
        stderr: () => said.stderr,
        async until(passes) {
          while (!passes(said.stdout, said.stderr)) {
            if (hasEnded) throw new Error(`The command ended: ${said.stdout}${said.stderr}`)
            await new Promise<void>((resolve) => waiting.add(resolve))
          }
        },
      }
    },
  }
}
