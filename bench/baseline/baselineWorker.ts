import { fileURLToPath } from 'node:url'
import { Client } from '@temporalio/client'
import {
  SearchAttributeType,
  TypedSearchAttributes,
  defineSearchAttributeKey,
} from '@temporalio/common'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { inTurns } from '../callers.js'
import type { BaselineInput } from './baselineWorkflow.js'

/**
 * A worker of empty workflows with the SDK's default settings, in its own process. Its parent sends the workflows to
 * start. It receives a message when the worker serves and when all workflows of a run have ended.
 */
const CONNECTIONS = 32
const names = ['deposit', 'withdraw', 'swap', 'bridge', 'awaitAttestation', 'mint']

/** `prefix` makes the workflow ids of a run unique. */
export type BaselineRun = { prefix: string; inputs: BaselineInput[] }

const done = { txHash: `0x${'0'.repeat(64)}`, units: '1000000' }
const activities = Object.fromEntries(names.map((name) => [name, () => Promise.resolve(done)]))

const [address = '', taskQueue = ''] = process.argv.slice(2)
Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: ['SIGTERM'] })
const connection = await NativeConnection.connect({ address })
const client = new Client({ connection })
const worker = await Worker.create({
  ...{ connection, taskQueue, activities },
  workflowsPath: fileURLToPath(new URL('baselineWorkflow.ts', import.meta.url)),
})
process.on('message', (run: BaselineRun) => void runAll(run).then(() => process.send?.('ended')))
process.send?.('ready')
await worker.run()
await connection.close()
process.exit(0)

async function runAll({ prefix, inputs }: BaselineRun): Promise<void> {
  const handles = await inTurns(inputs, CONNECTIONS, (input) =>
    client.workflow.start('baseline', {
      ...{ taskQueue, workflowId: `${prefix}-${input.intentId}`, args: [input] },
      requestEagerStart: true,
      priority: { priorityKey: 3, fairnessKey: 'account' },
      staticSummary: 'lend 1 USDC on arbitrum-sepolia',
      typedSearchAttributes: attributesOf(input),
    }),
  )
  await Promise.all(handles.map((handle) => handle.result()))
}

/** As many as an intent has. */
function attributesOf({ intentId, walletId }: BaselineInput) {
  const values = {
    AccountId: 'account',
    WalletId: walletId,
    UserId: walletId,
    RequestId: intentId,
    IntentAction: 'lend',
    SourceChain: 'arbitrum-sepolia',
    TargetChain: 'arbitrum-sepolia',
  }
  return new TypedSearchAttributes(
    Object.entries(values).map(([name, value]) => ({
      key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
      value,
    })),
  )
}
