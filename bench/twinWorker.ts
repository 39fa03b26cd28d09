import { fileURLToPath } from 'node:url'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { createLog } from '../log.js'
import { BUILD_ID } from '../temporal/build.js'
import { lightenWorkflowThreads } from '../worker/workflowThreads.js'

/**
 * A worker of workflows that do nothing, on the settings and threads of `worker/main.ts`. A process of its own, started
 * by IPC with the server's address and the queue; tells when it serves and each time that a workflow comes to its end.
 */
const SLOTS = {
  maxConcurrentWorkflowTaskExecutions: 8,
  nonStickyToStickyPollRatio: 0.5,
  maxConcurrentActivityTaskExecutions: 5_000,
  maxConcurrentLocalActivityExecutions: 100,
}
/** The activities of intents. */
const names = ['deposit', 'withdraw', 'swap', 'bridge', 'awaitAttestation', 'mint']
/** What a step tells its workflow. */
const done = { txHash: `0x${'0'.repeat(64)}`, units: '1000000' }

function step({ intentId, isLast }: { intentId: string; isLast?: true }) {
  if (!isLast) return Promise.resolve(done)
  process.send?.({ type: 'ended', id: intentId, at: Date.now() })
  return Promise.resolve({ ...done, isCompleted: true })
}
const activities = Object.fromEntries(names.map((name) => [name, step]))

const [address = '', taskQueue = ''] = process.argv.slice(2)
Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: ['SIGTERM'] })
lightenWorkflowThreads(createLog('twin', 'error'))
const connection = await NativeConnection.connect({ address })
const worker = await Worker.create({
  ...{ connection, taskQueue, buildId: BUILD_ID, ...SLOTS },
  activities,
  workflowsPath: fileURLToPath(new URL('twinWorkflow.ts', import.meta.url)),
})
process.send?.({ type: 'ready' })
await worker.run()
await connection.close()
process.exit(0)
