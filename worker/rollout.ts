import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { WorkerDeploymentVersion } from '@temporalio/common'
import { GONE_MS, isPolled, readRouting, setCurrentVersion } from '../temporal/deployment.js'
import type { Log } from '../log.js'
import type { Presence } from './presence.js'

const LOOK_EVERY_MS = 10_000
const LOOK_MS = 10_000

type Watched = {
  client: Client
  version: WorkerDeploymentVersion
  /** Whether the version makes itself the current one; else an operator does. */
  isAutomatic: boolean
  temporal: Presence
  log: Log
  /** Pause between two looks, ms. */
  lookEveryMs?: number
  /** A version that nothing has polled for so long is gone, ms. */
  goneMs?: number
}

/** What is known of the version of this worker. */
export type Rollout = {
  /** Whether Temporal routes to this version, as of the last look. */
  isCurrent(): boolean
  ended: Promise<void>
}

/**
 * Logs whether Temporal routes intents to this version of the workers, at each change, until the signal aborts. An automatic
 * version becomes the current one when it is new, and when no worker of the current one polls. One that was replaced
 * does not take over beside workers of its successor, however often it restarts.
 */
export function watchRollout(watched: Watched, stopping: AbortSignal): Rollout {
  const { client, version, temporal, log, lookEveryMs = LOOK_EVERY_MS } = watched
  let current: string | undefined
  /** Temporal notes a moment late that it was replaced. */
  let wasCurrent = false

  async function watch(): Promise<void> {
    while (!stopping.aborted) {
      await temporal.untilThere()
      if (stopping.aborted) return
      try {
        const found = await client.withDeadline(Date.now() + LOOK_MS, () =>
          look(watched, wasCurrent),
        )
        if (found !== current) logCurrent(watched, found)
        current = found
        wasCurrent ||= found === version.buildId
      } catch (error) {
        log.warn({ err: error }, 'the current version of the workers is not known')
      }
      await sleep(lookEveryMs, undefined, { signal: stopping }).catch(() => undefined)
    }
  }

  return { isCurrent: () => current === version.buildId, ended: watch() }
}

/** @returns The build id of the current version; empty when there is none. */
async function look(
  { client, version, isAutomatic, goneMs = GONE_MS }: Watched,
  wasCurrent: boolean,
): Promise<string> {
  const routing = await readRouting(client, version)
  const { current = '', changedMs, wasReplaced, conflictToken } = routing
  if (current === version.buildId || !isAutomatic) return current
  // One that has just become the current one may not poll yet.
  const isServed = async () =>
    changedMs > Date.now() - goneMs || (await isPolled(client, current, goneMs))
  if (current && (wasCurrent || wasReplaced) && (await isServed())) return current
  await setCurrentVersion(client, version, conflictToken)
  return version.buildId
}

function logCurrent({ client, version, log }: Watched, current: string): void {
  const { deploymentName, buildId } = version
  if (current === buildId) {
    log.info({ version }, 'this version of the workers is the current one')
    return
  }
  const command =
    `temporal worker deployment set-current-version --namespace ${client.options.namespace} ` +
    `--deployment-name ${deploymentName} --build-id ${buildId}`
  log.warn(
    { version, current, command },
    'this version of the workers is not the current one and begins no intents',
  )
}
