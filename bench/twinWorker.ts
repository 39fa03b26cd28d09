import { fileURLToPath } from 'node:url'
import { Client } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { inTurns } from './callers.js'
import { onceHere } from '../temporal/start.js'
import { searchAttributes } from '../temporal/searchAttributes.js'
import { MOST_STARTS } from '../worker/starting.js'
import type { ExecuteIntentInput } from '../workflows/executeIntent.js'
import type { TwinInput } from './twinWorkflow.js'

/**
 * A worker of workflows that do nothing, on the settings of `worker/main.ts`, which starts them as that one
 * does. A process of its own, begun with the server's address and the queue. It is told by IPC what to start, and tells
 * when it serves and each time that a workflow comes to its end.
 */
const SLOTS = {
  maxConcurrentWorkflowTaskExecutions: 64,
  maxConcurrentWorkflowTaskPolls: 12,
  nonStickyToStickyPollRatio: 0.25,
  maxConcurrentActivityTaskExecutions: 5_000,
  maxConcurrentLocalActivityExecutions: 100,
}
/** The activities of intents. */
const names = ['deposit', 'withdraw', 'swap', 'bridge', 'awaitAttestation', 'mint']
/** What a step tells its workflow. */
const done = { txHash: `0x${'0'.repeat(64)}`, units: '1000000' }

/** What is to be started, under ids with a prefix. */
export type TwinRun = { prefix: string; twins: TwinInput[] }

function step({ intentId, isLast }: { intentId: string; isLast?: true }) {
  if (!isLast) return Promise.resolve(done)
  process.send?.({ type: 'ended', id: intentId, at: Date.now() })
  return Promise.resolve({ ...done, isCompleted: true })
}
const activities = Object.fromEntries(names.map((name) => [name, step]))

const [address = '', taskQueue = ''] = process.argv.slice(2)
Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: ['SIGTERM'] })
const connection = await NativeConnection.connect({ address })
const client = new Client({ connection })
const worker = await Worker.create({
  ...{ connection, taskQueue, ...SLOTS },
  activities,
  workflowsPath: fileURLToPath(new URL('twinWorkflow.ts', import.meta.url)),
})
process.on('message', (run: TwinRun) => void startAll(run))
process.send?.({ type: 'ready' })
await worker.run()
await connection.close()
process.exit(0)

async function startAll({ prefix, twins }: TwinRun): Promise<void> {
  await inTurns(twins, MOST_STARTS, ({ steps, intent }) =>
    client.workflow.start('twin', {
      ...{ ...onceHere, taskQueue, workflowId: `${prefix}-${intent.intentId}` },
      args: [{ steps, intent }],
      priority: { priorityKey: 3, fairnessKey: intent.accountId },
      memo: { requestId: intent.intentId },
      staticSummary: `lend 0.5 USDC on ${intent.plan?.targetChain}`,
      typedSearchAttributes: attributesOf(intent),
    }),
  )
}

function attributesOf({ intentId, accountId, walletId, plan }: ExecuteIntentInput) {
  const chain = plan?.targetChain ?? ''
  return new TypedSearchAttributes([
    { key: searchAttributes.accountId, value: accountId },
    { key: searchAttributes.walletId, value: walletId },
    { key: searchAttributes.userId, value: walletId },
    { key: searchAttributes.requestId, value: intentId },
    { key: searchAttributes.intentAction, value: 'lend' },
    { key: searchAttributes.sourceChain, value: chain },
    { key: searchAttributes.targetChain, value: chain },
  ])
}
