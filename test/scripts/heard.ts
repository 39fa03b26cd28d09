import { vi } from 'vitest'

export type Ended = { code: number; stdout: string; stderr: string }

/** Runs an operator's command in this process and returns its exit code and what it has printed. */
export async function hearCommand(run: () => Promise<number>): Promise<Ended> {
  const said = { stdout: '', stderr: '' }
  const listeners = [
    vi.spyOn(console, 'log').mockImplementation((text) => void (said.stdout += `${text}\n`)),
    vi.spyOn(console, 'error').mockImplementation((text) => void (said.stderr += `${text}\n`)),
  ]
  try {
    return { code: await run(), ...said }
  } finally {
    for (const listener of listeners) listener.mockRestore()
  }
}
