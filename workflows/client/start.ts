import { TypedSearchAttributes, type SearchAttributePair } from '@temporalio/common'
import {
  WorkflowExecutionAlreadyStartedError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client'
import { faultPoint } from '../../runtime/faultPoints.js'
import { setRecovered } from '../../db/intents/status.js'
import type { StoredIntent } from '../../db/intents/intents.js'
import { spendingChain } from '../../domain/intent/intent.js'
import { assetText } from '../../domain/money.js'
import { faultIn } from '../../domain/simulate.js'
import { CALL_MS, TASK_QUEUE } from './connect.js'
import { searchAttributes } from './searchAttributes.js'
import type { Tier } from '../../domain/tiers.js'
import type { Db } from '../../db/client/connect.js'
import type { StoredFunding } from '../../db/intents/fundings.js'
import type { ExecuteIntentInput, executeIntent } from '../executeIntent.js'
import type { fundWallet } from '../fundWallet.js'

/**
 * Workflow task timeout. After it another worker gets the task of a worker that has died. Most tasks finish within a
 * second, also with a backlog. Longer ones, such as a finalization that waits for Postgres, send heartbeats.
 */
const TASK_MS = 5_000

/** Priority key per tier. Temporal serves low numbers first during a backlog. */
const priorityOf: Record<Tier, number> = { enterprise: 2, pro: 3, free: 4 }

export type WorkflowStartPolicy = Pick<
  WorkflowStartOptions,
  'workflowIdReusePolicy' | 'workflowIdConflictPolicy' | 'requestEagerStart'
>
export const once: WorkflowStartPolicy = { workflowIdReusePolicy: 'REJECT_DUPLICATE' }
/** Eager start on the connection of a worker. The response contains the first task if the worker has a free slot. */
export const onceHere: WorkflowStartPolicy = { ...once, requestEagerStart: true }
/**
 * For a missing run of unfinished work. The new run reads its progress from the rows. If a run still exists, the server
 * returns that one (`USE_EXISTING`), so there are never two.
 */
export const again: WorkflowStartPolicy = { workflowIdReusePolicy: 'ALLOW_DUPLICATE' }

/**
 * For a reopened intent. Only a new run is certain to see its current rows, because an existing run may have read them
 * before.
 */
const newRun: WorkflowStartPolicy = {
  workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  workflowIdConflictPolicy: 'FAIL',
}

/** `publicUrl`: address of the service in browsers. Absent: workflows have no link to it. */
export type Starter = { client: Client; publicUrl?: string | undefined }

/** `userId`: the owner of the wallet, as the caller names them. */
export type IntentStart = { intent: StoredIntent; tier: Tier; userId: string }

/**
 * Starts the workflow of an intent. The workflow id is the intent id. An existing workflow counts as started. The caller
 * records the start (`setDispatched`).
 */
async function startIntent(
  starter: Starter,
  start: IntentStart,
  options: WorkflowStartPolicy = once,
): Promise<void> {
  await startOrFind(() => startExecution(starter, start, options))
  faultPoint('workflow started, not marked')
}

/**
 * Starts the workflow of a reopened intent and clears its recovery mark.
 *
 * @returns False when a run of it exists. The mark stays then.
 */
export async function startReopened(
  { db, ...starter }: Starter & { db: Db },
  { recoverAt, ...start }: IntentStart & { recoverAt: string },
): Promise<boolean> {
  const isStarted = await startOrFind(() => startExecution(starter, start, newRun))
  if (isStarted) await setRecovered(db, start.intent.id, recoverAt)
  return isStarted
}

async function startExecution(
  { client, publicUrl }: Starter,
  { intent, tier, userId }: IntentStart,
  options: WorkflowStartPolicy,
): Promise<void> {
  const { id, accountId, action, asset, requestId } = intent
  const amount = assetText(BigInt(intent.units))
  const target = intent.plan?.targetChain ?? intent.chain
  await client.withDeadline(Date.now() + CALL_MS, () =>
    client.workflow.start<typeof executeIntent>('executeIntent', {
      workflowIdConflictPolicy: 'USE_EXISTING',
      ...options,
      workflowId: id,
      taskQueue: TASK_QUEUE,
      workflowTaskTimeout: TASK_MS,
      args: [inputOf(intent)],
      priority: { priorityKey: priorityOf[tier], fairnessKey: accountId },
      memo: { requestId },
      staticSummary: `${action} ${amount} ${asset}${target ? ` on ${target}` : ''}`,
      staticDetails: detailsOf(id, publicUrl),
      typedSearchAttributes: attributesOf(intent, userId),
    }),
  )
}

/** The intent in Markdown, with a link to its page in the dashboard when its address is known. */
function detailsOf(id: string, publicUrl: string | undefined): string {
  if (publicUrl === undefined) return `Intent ${id}`
  return `Intent [${id}](${new URL(`/dashboard/intents/${id}`, publicUrl).href})`
}

function attributesOf(intent: StoredIntent, userId: string): TypedSearchAttributes {
  const { accountId, walletId, action, requestId, retryOf, plan } = intent
  const [first] = plan?.steps ?? []
  const source = first ? spendingChain(first) : intent.fromChain
  const target = plan?.targetChain ?? intent.chain
  const pairs: SearchAttributePair[] = [
    { key: searchAttributes.accountId, value: accountId },
    { key: searchAttributes.walletId, value: walletId },
    { key: searchAttributes.userId, value: userId },
    { key: searchAttributes.requestId, value: requestId },
    { key: searchAttributes.intentAction, value: action },
    ...(retryOf ? [{ key: searchAttributes.retryOf, value: retryOf }] : []),
    ...(source ? [{ key: searchAttributes.sourceChain, value: source }] : []),
    ...(target ? [{ key: searchAttributes.targetChain, value: target }] : []),
  ]
  return new TypedSearchAttributes(pairs)
}

function inputOf({ id, accountId, walletId, plan, metadata }: StoredIntent): ExecuteIntentInput {
  const simulate = faultIn(metadata)
  const shared = { intentId: id, accountId, walletId }
  return { ...shared, ...(plan && { plan }), ...(simulate && { simulate }) }
}

/** A funding, with the tier that sets its priority. */
export type FundingStart = { funding: StoredFunding; tier: Tier }

/** Starts the workflow of a funding, as `startIntent` does for an intent. */
export async function startFunding(
  client: Client,
  { funding, tier }: FundingStart,
  options: WorkflowStartPolicy = once,
): Promise<void> {
  const { id, accountId, walletId } = funding
  const typedSearchAttributes = new TypedSearchAttributes([
    { key: searchAttributes.accountId, value: accountId },
    { key: searchAttributes.walletId, value: walletId },
    { key: searchAttributes.intentAction, value: 'fund' },
  ])
  await startOrFind(() =>
    client.withDeadline(Date.now() + CALL_MS, () =>
      client.workflow.start<typeof fundWallet>('fundWallet', {
        workflowIdConflictPolicy: 'USE_EXISTING',
        ...options,
        workflowId: id,
        taskQueue: TASK_QUEUE,
        workflowTaskTimeout: TASK_MS,
        args: [{ fundingId: id }],
        priority: { priorityKey: priorityOf[tier], fairnessKey: accountId },
        staticSummary: `fund ${walletId} with test money`,
        typedSearchAttributes,
      }),
    ),
  )
}

export type Start = IntentStart | FundingStart

/** Starts the workflow of an intent or a funding. An existing workflow counts as started. */
export const startWorkflow = (starter: Starter, start: Start, options?: WorkflowStartPolicy) =>
  'intent' in start
    ? startIntent(starter, start, options)
    : startFunding(starter.client, start, options)

/** The intent or funding of a start. */
export const workOf = (start: Start): StoredIntent | StoredFunding =>
  'intent' in start ? start.intent : start.funding

/** Log fields of a start. */
export const factsOf = (start: Start) =>
  'intent' in start
    ? { intent: start.intent.id, requestId: start.intent.requestId }
    : { funding: start.funding.id }

/** @returns False when a run exists already. */
async function startOrFind(start: () => Promise<unknown>): Promise<boolean> {
  try {
    await start()
    return true
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
    return false
  }
}
