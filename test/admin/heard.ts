import { vi } from 'vitest'

export type FinishedCommand = { code: number; stdout: string; stderr: string }

/** Runs an operator's command in this process. Returns its exit code and output. */
export async function hearCommand(run: () => Promise<number>): Promise<FinishedCommand> {
  const output = { stdout: '', stderr: '' }
  const listeners = [
    vi.spyOn(console, 'log').mockImplementation((text) => void (output.stdout += `${text}\n`)),
    vi.spyOn(console, 'error').mockImplementation((text) => void (output.stderr += `${text}\n`)),
  ]
  try {
    return { code: await run(), ...output }
  } finally {
    for (const listener of listeners) listener.mockRestore()
  }
}
