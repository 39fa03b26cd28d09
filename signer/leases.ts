import { setTimeout as sleep } from 'node:timers/promises'
import { endDeadLeases } from '../db/lanes/signing.js'
import type { SignerTools } from './round.js'

/** What a process that was killed had taken waits no longer. */
const LOOK_MS = 1_000

/** Frees what signers had taken that are gone, until the signal aborts. Without it their leases end by themselves. */
export async function keepEndingLeases(
  { db, log }: Pick<SignerTools, 'db' | 'log'>,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    try {
      const ended = await endDeadLeases(db)
      if (ended > 0) log.warn({ operations: ended }, 'a signer is gone, what it had taken is free')
    } catch (error) {
      log.warn({ err: error }, 'leases of signers that are gone were not ended')
    }
    await sleep(LOOK_MS, undefined, { signal: stopping }).catch(() => undefined)
  }
}
