import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { releaseLock, takeLock } from '../state/lock.js'
import { say } from '../terminal.js'

/** Where programs made from these pins are kept, for all checkouts of a user: other pins are another folder. */
export function cacheFolder(env: NodeJS.ProcessEnv, name: string, pins: string[]): string {
  const hash = createHash('sha256')
  for (const file of pins) hash.update(fs.readFileSync(file))
  const cache = env.XDG_CACHE_HOME ?? path.join(env.HOME ?? homedir(), '.cache')
  return path.join(cache, 'steward', `${name}-${hash.digest('hex').slice(0, 16)}`)
}

/** Runs `work`, which makes `place`, in one process at a time. A lock of a dead process counts for nothing. */
export async function holdingLock<T>(place: string, work: () => Promise<T>): Promise<T> {
  const lock = `${place}.lock`
  let isTold = false
  for (let holder = takeLock(lock); holder; holder = takeLock(lock)) {
    if (!isTold) say(`  Waiting for the Temporal server that process ${holder.pid} fetches …`)
    isTold = true
    await sleep(250)
  }
  try {
    return await work()
  } finally {
    releaseLock(lock)
  }
}
