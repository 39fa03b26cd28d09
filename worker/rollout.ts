import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { WorkerDeploymentVersion } from '@temporalio/common'
import { isPolled, readRouting, setCurrentVersion } from '../temporal/deployment.js'
import type { Log } from '../log.js'
import type { Presence } from './presence.js'

const LOOK_EVERY_MS = 10_000
const LOOK_MS = 10_000

type Rollout = {
  client: Client
  version: WorkerDeploymentVersion
  /** Whether the version makes itself the current one; else an operator does. */
  isAutomatic: boolean
  temporal: Presence
  log: Log
}

/**
 * Logs whether Temporal routes intents to this version of the workers, at each change, until the signal aborts. An automatic
 * version becomes the current one when it is new, and when no worker of the current one polls. One that was replaced
 * does not take over beside workers of its successor, however often it restarts.
 */
export async function watchRollout(rollout: Rollout, stopping: AbortSignal): Promise<void> {
  const { client, temporal, log } = rollout
  let logged: string | undefined
  while (!stopping.aborted) {
    await temporal.untilThere()
    if (stopping.aborted) return
    try {
      const current = await client.withDeadline(Date.now() + LOOK_MS, () => look(rollout))
      if (current !== logged) logCurrent(rollout, current)
      logged = current
    } catch (error) {
      log.warn({ err: error }, 'the current version of the workers is not known')
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** @returns The build id of the current version; empty when there is none. */
async function look({ client, version, isAutomatic }: Rollout): Promise<string> {
  const { current = '', wasReplaced, conflictToken } = await readRouting(client, version)
  if (current === version.buildId || !isAutomatic) return current
  if (current && wasReplaced && (await isPolled(client, current))) return current
  await setCurrentVersion(client, version, conflictToken)
  return version.buildId
}

function logCurrent({ client, version, log }: Rollout, current: string): void {
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
