import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { WorkerDeploymentVersion } from '@temporalio/common'
import {
  GONE_MS,
  isPolled,
  readRouting,
  setCurrentVersion,
} from '../workflows/client/deployment.js'
import type { Log } from '../runtime/log.js'
import type { Presence } from './presence.js'

const LOOK_EVERY_MS = 10_000
const QUERY_TIMEOUT_MS = 10_000

type WatchedVersion = {
  client: Client
  version: WorkerDeploymentVersion
  /** Whether this version makes itself current. Otherwise an operator does. */
  isAutomatic: boolean
  temporal: Presence
  log: Log
  /** Delay between two queries of the routing, ms. */
  lookEveryMs?: number
  /** A version without a poll for this time has no workers, ms. */
  goneMs?: number
}

/** The rollout state of this worker's version. */
export type Rollout = {
  /** Whether Temporal routes to this version, as of the last query. */
  isCurrent(): boolean
  ended: Promise<void>
}

/**
 * Watches to which worker version Temporal routes intents, and logs each change, until the signal aborts. An automatic
 * version makes itself current when it is new, or when no worker of the current version polls. A replaced version does
 * not become current while workers of its successor poll, even after a restart.
 */
export function watchRollout(watched: WatchedVersion, stopping: AbortSignal): Rollout {
  const { client, version, temporal, log, lookEveryMs = LOOK_EVERY_MS } = watched
  let current: string | undefined
  /** Temporal reports a replacement with a short delay. */
  let wasCurrent = false

  async function watch(): Promise<void> {
    while (!stopping.aborted) {
      await temporal.untilThere()
      if (stopping.aborted) return
      try {
        const found = await client.withDeadline(Date.now() + QUERY_TIMEOUT_MS, () =>
          look(watched, wasCurrent),
        )
        if (found !== current) logCurrent(watched, found)
        current = found
        wasCurrent ||= found === version.buildId
      } catch (error) {
        log.warn({ err: error }, 'current worker version unknown')
      }
      await sleep(lookEveryMs, undefined, { signal: stopping }).catch(() => undefined)
    }
  }

  return { isCurrent: () => current === version.buildId, ended: watch() }
}

/** @returns The build id of the current version; empty without one. */
async function look(
  { client, version, isAutomatic, goneMs = GONE_MS }: WatchedVersion,
  wasCurrent: boolean,
): Promise<string> {
  const routing = await readRouting(client, version)
  const { current = '', changedMs, wasReplaced, conflictToken } = routing
  if (current === version.buildId || !isAutomatic) return current
  // A version that has just become current may not poll yet.
  const isServed = async () =>
    changedMs > Date.now() - goneMs || (await isPolled(client, current, goneMs))
  if (current && (wasCurrent || wasReplaced) && (await isServed())) return current
  await setCurrentVersion(client, version, conflictToken)
  return version.buildId
}

function logCurrent({ client, version, log }: WatchedVersion, current: string): void {
  const { deploymentName, buildId } = version
  if (current === buildId) {
    log.info({ version }, 'worker version is current')
    return
  }
  const command =
    `temporal worker deployment set-current-version --namespace ${client.options.namespace} ` +
    `--deployment-name ${deploymentName} --build-id ${buildId}`
  log.warn({ version, current, command }, 'worker version is not current, it starts no intents')
}
