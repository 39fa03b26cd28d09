import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import * as os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/** The system lets somebody who is not its administrator change one group in 100 ms, whoever it is. */
const PAUSE_MS = 110
const TRIES = 50

/**
 * Lets other processes have the CPU before this one and its threads, as `nice` does.
 *
 * Linux shares the CPU between sessions first, where it groups processes by them, and each child has a session of its
 * own: there the group stands back.
 *
 * @param nice - From 0, like any other, to 19.
 * @see https://man7.org/linux/man-pages/man7/sched.7.html "The autogroup feature"
 */
export async function standBack(pid: number, nice: number): Promise<void> {
  for (const id of threadsOf(pid)) {
    try {
      os.setPriority(id, nice)
    } catch {
      // It has ended already.
    }
  }
  for (let tries = 0; tries < TRIES; tries += 1) {
    const refused = await writeFile(`/proc/${pid}/autogroup`, String(nice), { flag: 'r+' }).then(
      () => undefined,
      (error: unknown) => error as NodeJS.ErrnoException,
    )
    // Otherwise there are no such groups, or the process has ended.
    if (refused?.code !== 'EAGAIN') return
    await sleep(PAUSE_MS)
  }
}

/** On Linux each has a priority of its own, and hands it on to those that it starts; elsewhere they have one. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    return [pid]
  }
}
