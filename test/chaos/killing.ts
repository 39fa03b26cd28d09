import { setTimeout as sleep } from 'node:timers/promises'
import type { Draws } from './draws.js'
import type { Stack } from '../e2e/stack.js'

type StackPart = keyof Stack['facts']['pids']
export type Kills = Record<StackPart, number>

/** Kills by role, in tenths. Databases are rare, because their death affects every part. */
const weights: [StackPart, number][] = [
  ['api', 20],
  ['worker', 20],
  ['relayer', 20],
  ['signer', 20],
  ['postgres', 12],
  ['temporal', 8],
]

/** Kills one process after the other until the storm ends. The stack restarts them. */
export async function killOn(
  stack: Stack,
  draws: Draws,
  { isRaging, everyMs }: { isRaging(): boolean; everyMs: number },
): Promise<Kills> {
  const kills: Kills = { api: 0, worker: 0, relayer: 0, signer: 0, postgres: 0, temporal: 0 }
  while (isRaging()) {
    await sleep(everyMs * (0.5 + draws.next()))
    const part = draws.pick(weights)
    if (isRaging() && kill(stack, part)) kills[part]++
  }
  return kills
}

/** False when the process does not exist because it was killed a moment ago. */
function kill(stack: Stack, part: StackPart): boolean {
  try {
    process.kill(stack.readFacts().pids[part], 'SIGKILL')
    return true
  } catch {
    return false
  }
}
