/** A worker process for kill tests: executes intents, signals settled operations, and sweeps each second. */
import { setTimeout as sleep } from 'node:timers/promises'
import { NativeConnection, Worker } from '@temporalio/worker'
import { createActivities } from '../../activities/index.js'
import { createRegistry } from '../../evm/registry.js'
import { connect } from '../../db/client/connect.js'
import { listenToOperations } from '../../db/client/listen.js'
import { watchOutcomes } from '../../operations/watchOutcomes.js'
import { createLog } from '../../runtime/log.js'
import { TASK_QUEUE, connectTemporal } from '../../workflows/client/connect.js'
import { setCurrentVersion, versionOf } from '../../workflows/client/deployment.js'
import { notifyWorkflows, signalSettled } from '../../worker/notify.js'
// Sets the log level of the SDK.
import '../support/temporal/runtime.js'
import type { Tools } from '../../activities/step.js'

const [databaseUrl = '', address = '', namespace = '', codePath = '', buildId = ''] =
  process.argv.slice(2)

const { signal: stopping } = new AbortController()
const db = connect(databaseUrl, 5)
const listener = listenToOperations(databaseUrl, stopping)
const outcomes = watchOutcomes({ db, listener, stopping })
const client = connectTemporal(address, namespace)
const log = createLog('worker', 'error')
const notifying = { db, client, log, stopping }
const version = versionOf(buildId)

const tools = { db, outcomes, registry: createRegistry('testnet'), stopping, slotMs: 500 }
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  ...{ namespace, taskQueue: TASK_QUEUE },
  workflowBundle: { codePath },
  activities: createActivities(tools as unknown as Tools),
  workerDeploymentOptions: {
    ...{ useWorkerVersioning: true, version },
    defaultVersioningBehavior: 'AUTO_UPGRADE',
  },
})
await setCurrentVersion(client, version)
void notifyWorkflows(notifying, listener)
void worker.run()
for (;;) {
  await signalSettled(notifying, null)
  await sleep(1_000)
}
