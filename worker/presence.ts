import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { pingTemporal } from '../temporal/connect.js'
import { ensureSchedules } from '../temporal/schedules.js'
import { registerSearchAttributes } from '../temporal/searchAttributes.js'
import type { Log } from '../log.js'

const PING_EVERY_MS = 2_000
const PREPARE_MS = 10_000

/** Whether Temporal is there: it answers, and knows what this code needs. */
export type Presence = {
  /** Asks now. */
  isThere(): Promise<boolean>
  /** Resolves when it is, or when the process stops. */
  untilThere(): Promise<void>
}

/**
 * Watches Temporal until the signal aborts, and tells in one line when it goes and when it is back. A server
 * that comes back may be another one: it is prepared anew each time.
 */
export function watchTemporal(client: Client, log: Log, stopping: AbortSignal): Presence {
  let there: boolean | undefined
  let asking: Promise<boolean> | undefined

  async function ask(): Promise<boolean> {
    try {
      await pingTemporal(client)
      if (!there) await prepare(client)
    } catch (error) {
      if (there !== false && !stopping.aborted) {
        log.warn({ err: error }, 'Temporal does not serve. What is asked for is stored and waits')
      }
      return (there = false)
    }
    if (there === false) log.info('Temporal serves again')
    return (there = true)
  }

  const stopped = new Promise<false>((resolve) => {
    stopping.addEventListener('abort', () => {
      resolve(false)
    })
  })
  const isThere = () => (asking ??= ask().finally(() => (asking = undefined)))
  const pause = () => sleep(PING_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined)
  const watch = async () => {
    for (; !stopping.aborted; await pause()) await isThere()
  }
  void watch()

  return {
    isThere,
    async untilThere() {
      while (!stopping.aborted && !(await Promise.race([isThere(), stopped]))) await pause()
    },
  }
}

async function prepare(client: Client): Promise<void> {
  await client.withDeadline(Date.now() + PREPARE_MS, async () => {
    await registerSearchAttributes(client)
    await ensureSchedules(client)
  })
}
