import { Client } from '@temporalio/client'
import { Runtime, type NativeConnection, type WorkerDeploymentOptions } from '@temporalio/worker'
import type { VersioningBehavior } from '@temporalio/common'
import { createActivities } from '../activities/index.js'
import { ACTIVITY_SLOTS } from '../activities/slot.js'
import { connectChains } from '../evm/connect.js'
import { createRegistry } from '../evm/registry.js'
import { loadConfig } from '../runtime/config.js'
import { assertNetwork, connect } from '../db/client/connect.js'
import { listenToOperations, listenToStarts } from '../db/client/listen.js'
import { watchOutcomes } from '../operations/watchOutcomes.js'
import { createNotifier } from '../runtime/notifier.js'
import { runProcess } from '../runtime/process.js'
import { createLog } from '../runtime/log.js'
import { createProber, watchDeployment } from '../operations/health/watch.js'
import { TASK_QUEUE, connectTemporal } from '../workflows/client/connect.js'
import { versionOf } from '../workflows/client/deployment.js'
import { notifyWorkflows } from './notify.js'
import { watchTemporal } from './presence.js'
import { watchRollout } from './rollout.js'
import { serveTasks } from './serve.js'
import { runStarter } from './dispatch.js'
import { runSweepers } from './sweep.js'
import { runDeliveries } from './deliveries.js'
import { createTemporalLog, telemetryOptions } from './temporalLog.js'
import { loadWebhookKey } from './webhookKey.js'
import { readBuildId, workflowBundle } from './workflowBundle.js'
import { createGuard } from '../activities/webhooks/address.js'

/** Below the 30 s after which a stopping process is killed. */
const SHUTDOWN = { shutdownGraceTime: '10s', shutdownForceTime: '15s' } as const
/**
 * Fixed sizes. A workflow task holds its slot until the server has accepted its completion. There are spare slots for
 * workflow tasks: an eager start without a free slot falls back to the task queue, which costs the server more. A
 * workflow that is not in the cache is replayed when its step ends.
 */
const SLOTS = {
  maxCachedWorkflows: 1_000,
  maxConcurrentWorkflowTaskExecutions: 64,
  // First tasks arrive with their eager start, later ones by the sticky queue: 9 of 12 polls serve the sticky queue.
  maxConcurrentWorkflowTaskPolls: 12,
  nonStickyToStickyPollRatio: 0.25,
  maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
  maxConcurrentLocalActivityExecutions: 100,
}

/**
 * Database connections. The first statements of a session are about ten times slower, so a few warm sessions serve more
 * than many cold ones. One account uses at most eight.
 */
const SESSIONS = 12

const config = loadConfig('worker', process.env)
const log = createLog('worker', config.LOG_LEVEL)
const { stopping, onStop, ready } = runProcess(log)
const temporalLog = createTemporalLog(log)
Runtime.install({ logger: temporalLog, telemetryOptions, shutdownSignals: [] })

const registry = createRegistry(config.NETWORK, config.DEVNET_FILE)
const chains = connectChains(registry, config.rpcUrls, log)
const db = connect(config.DATABASE_URL, SESSIONS)
onStop(() => db.destroy())
await assertNetwork(db, config.NETWORK)
const watch = watchDeployment(createProber({ chains, registry }), log, stopping)
onStop(() => watch.ended)

const client = connectTemporal(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE)
onStop(() => client.connection.close())
const version = versionOf(readBuildId())
const temporal = watchTemporal({ client, log }, stopping)
const isAutomatic = config.WORKER_ROLLOUT === 'automatic'
const rollout = watchRollout({ client, version, isAutomatic, temporal, log }, stopping)
onStop(() => rollout.ended)

const listener = listenToOperations(config.directDatabaseUrl, stopping)
const outcomes = watchOutcomes({ db, listener, stopping })
const notifying = notifyWorkflows({ db, client, log, stopping }, listener)
onStop(() => notifying)
const build = { namespace: config.TEMPORAL_NAMESPACE, workflowBundle }
const options = {
  ...build,
  taskQueue: TASK_QUEUE,
  // An intent may wait for days, and continues with the next version.
  workerDeploymentOptions: versioned('AUTO_UPGRADE'),
  activities: createActivities({
    db,
    chains,
    registry,
    limits: config.limits,
    outcomes,
    stopping,
    bridgeGiveUpMs: config.BRIDGE_GIVE_UP_HOURS * 3_600_000,
  }),
  ...SLOTS,
  ...SHUTDOWN,
}
const stored = createNotifier()
const publicUrl = config.PUBLIC_URL
listenToStarts(config.directDatabaseUrl, stopping, stored.notify)
const service = {
  ...{ address: config.TEMPORAL_ADDRESS, options, temporal, log },
  beside(connection: NativeConnection, over: AbortSignal) {
    const own = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE })
    return runStarter({ db, client: own, publicUrl, temporal, rollout, stored, log }, over)
  },
}
await watch.first
const serving = serveTasks(service, stopping)
onStop(() => serving)
const eventsKeptDays = config.EVENTS_KEPT_DAYS
const url = config.directDatabaseUrl
const sweeping = { url, chains, client, publicUrl, temporal, log, eventsKeptDays }
const sweepers = runSweepers(sweeping, stopping)
onStop(() => sweepers)
// A faulty webhook key must not stop the execution of intents.
const webhookKey = await findWebhookKey()
if (webhookKey) {
  const guard = createGuard({ isDevnet: config.NETWORK === 'devnet' })
  const options = { ...build, ...SHUTDOWN, workerDeploymentOptions: versioned('PINNED') }
  const parts = { db, key: webhookKey, guard, options, client, temporal, log }
  const places = { url: config.directDatabaseUrl, address: config.TEMPORAL_ADDRESS }
  const deliveries = runDeliveries({ ...parts, ...places }, stopping)
  onStop(() => deliveries)
}
ready({ taskQueue: TASK_QUEUE, version })

function versioned(defaultVersioningBehavior: VersioningBehavior): WorkerDeploymentOptions {
  return { useWorkerVersioning: true, version, defaultVersioningBehavior }
}

async function findWebhookKey() {
  const { WEBHOOK_KEY_FILE } = config
  if (!WEBHOOK_KEY_FILE) return undefined
  try {
    return await loadWebhookKey(db, WEBHOOK_KEY_FILE)
  } catch (error) {
    log.error({ err: error }, 'webhook deliveries disabled in this worker')
    return undefined
  }
}
