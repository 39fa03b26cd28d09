import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { pingTemporal } from '../workflows/client/connect.js'
import { ensureSchedules } from '../workflows/client/schedules.js'
import { registerSearchAttributes } from '../workflows/client/searchAttributes.js'
import type { Log } from '../runtime/log.js'

const PING_EVERY_MS = 2_000
const PREPARE_MS = 10_000

/** Whether Temporal answers and has the required search attributes and schedules. */
export type Presence = {
  /** Resolves when Temporal is available, or when the process stops. */
  untilThere(): Promise<void>
}

type Watched = { client: Client; log: Log }

/**
 * Pings Temporal until the signal aborts, and logs each change of its availability. After an outage the server may be
 * another one, so its search attributes and schedules are registered again.
 */
export function watchTemporal({ client, log }: Watched, stopping: AbortSignal): Presence {
  const changes = new EventEmitter()
  let isThere: boolean | undefined

  async function look(): Promise<void> {
    try {
      await pingTemporal(client)
      if (!isThere) await prepare(client)
    } catch (error) {
      if (isThere !== false && !stopping.aborted) {
        log.warn({ err: error }, 'Temporal unavailable, intents are stored and wait')
      }
      isThere = false
      return
    }
    if (isThere === false) log.info('Temporal available again')
    isThere = true
    changes.emit('there')
  }

  async function watch(): Promise<void> {
    while (!stopping.aborted) {
      await look()
      await sleep(PING_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
  void watch()

  return {
    async untilThere() {
      if (isThere) return
      await once(changes, 'there', { signal: stopping }).catch(() => undefined)
    },
  }
}

async function prepare(client: Client): Promise<void> {
  await client.withDeadline(Date.now() + PREPARE_MS, async () => {
    await registerSearchAttributes(client)
    await ensureSchedules(client)
  })
}
