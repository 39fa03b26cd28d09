import { TypedSearchAttributes, type SearchAttributePair } from '@temporalio/common'
import {
  WorkflowExecutionAlreadyStartedError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client'
import { crashPoint } from '../crashPoints.js'
import { setRecovered } from '../db/intents/status.js'
import type { Intent } from '../db/intents/intents.js'
import { spendingChain } from '../domain/intent.js'
import { assetText } from '../domain/money.js'
import { faultIn } from '../domain/simulate.js'
import { CALL_MS, TASK_QUEUE } from './connect.js'
import { searchAttributes } from './searchAttributes.js'
import type { Tier } from '../domain/tiers.js'
import type { Db } from '../db/connection/connect.js'
import type { Funding } from '../db/intents/fundings.js'
import type { ExecuteIntentInput, executeIntent } from '../workflows/executeIntent.js'
import type { fundWallet } from '../workflows/fundWallet.js'

/**
 * After so long a task of a workflow is given to another worker, should the one that took it have died. A usual one is
 * over after some tenths of a second, with a backlog too. What takes longer, such as an end that waits for Postgres,
 * tells Temporal so before.
 */
const TASK_MS = 5_000

/** Temporal serves low numbers first when there is a backlog. */
const priorityOf: Record<Tier, number> = { enterprise: 2, pro: 3, free: 4 }

export type StartOptions = Pick<
  WorkflowStartOptions,
  'workflowIdReusePolicy' | 'workflowIdConflictPolicy' | 'requestEagerStart'
>
export const once: StartOptions = { workflowIdReusePolicy: 'REJECT_DUPLICATE' }
/** By the connection of a worker, which gets the first task with the answer, as long as it has a slot for it. */
export const onceHere: StartOptions = { ...once, requestEagerStart: true }
/**
 * For a run that is gone though its work is not over: it finds in the rows what is done. There is never a second
 * one beside a run that is there after all, which answers for it (`USE_EXISTING`).
 */
export const again: StartOptions = { workflowIdReusePolicy: 'ALLOW_DUPLICATE' }

/**
 * For an intent whose end does not hold any more: only a run that begins now is known to see it. One that is there
 * may have read the rows before.
 */
const anew: StartOptions = {
  workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  workflowIdConflictPolicy: 'FAIL',
}

/** `userId`: whose wallet it is, as the caller names him. */
export type IntentStart = { intent: Intent; tier: Tier; userId: string }

/**
 * Starts the workflow of an intent, whose id is the intent's. Already started counts as started. It is the caller's to
 * write it down (`setDispatched`).
 */
async function startIntent(
  temporal: Client,
  start: IntentStart,
  options: StartOptions = once,
): Promise<void> {
  await startOrFind(() => startExecution(temporal, start, options))
  crashPoint('workflow started, not marked')
}

/**
 * Starts the workflow of an intent that was reopened, and takes the mark away that asked for it.
 *
 * @returns False when a run of it is there: the mark stays.
 */
export async function startReopened(
  { temporal, db }: { temporal: Client; db: Db },
  { recoverAt, ...start }: IntentStart & { recoverAt: string },
): Promise<boolean> {
  const isStarted = await startOrFind(() => startExecution(temporal, start, anew))
  if (isStarted) await setRecovered(db, start.intent.id, recoverAt)
  return isStarted
}

async function startExecution(
  temporal: Client,
  { intent, tier, userId }: IntentStart,
  options: StartOptions,
): Promise<void> {
  const { id, accountId, action, asset, requestId } = intent
  const amount = assetText(BigInt(intent.units))
  const target = intent.plan?.targetChain ?? intent.chain
  await temporal.withDeadline(Date.now() + CALL_MS, () =>
    temporal.workflow.start<typeof executeIntent>('executeIntent', {
      workflowIdConflictPolicy: 'USE_EXISTING',
      ...options,
      workflowId: id,
      taskQueue: TASK_QUEUE,
      workflowTaskTimeout: TASK_MS,
      args: [inputOf(intent)],
      priority: { priorityKey: priorityOf[tier], fairnessKey: accountId },
      memo: { requestId },
      staticSummary: `${action} ${amount} ${asset}${target ? ` on ${target}` : ''}`,
      typedSearchAttributes: attributesOf(intent, userId),
    }),
  )
}

function attributesOf(intent: Intent, userId: string): TypedSearchAttributes {
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

function inputOf({ id, accountId, walletId, plan, metadata }: Intent): ExecuteIntentInput {
  const simulate = faultIn(metadata)
  const shared = { intentId: id, accountId, walletId }
  return { ...shared, ...(plan && { plan }), ...(simulate && { simulate }) }
}

/** A funding that has its turn among those of all accounts as their intents do. */
export type FundingStart = { funding: Funding; tier: Tier }

/** As `startIntent`, the workflow of a funding. */
export async function startFunding(
  temporal: Client,
  { funding, tier }: FundingStart,
  options: StartOptions = once,
): Promise<void> {
  const { id, accountId, walletId } = funding
  const typedSearchAttributes = new TypedSearchAttributes([
    { key: searchAttributes.accountId, value: accountId },
    { key: searchAttributes.walletId, value: walletId },
    { key: searchAttributes.intentAction, value: 'fund' },
  ])
  await startOrFind(() =>
    temporal.withDeadline(Date.now() + CALL_MS, () =>
      temporal.workflow.start<typeof fundWallet>('fundWallet', {
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

/** Starts whichever it is. Already started counts as started. */
export const startWorkflow = (temporal: Client, start: Start, options?: StartOptions) =>
  'intent' in start ? startIntent(temporal, start, options) : startFunding(temporal, start, options)

/** What is started. */
export const workOf = (start: Start): Intent | Funding =>
  'intent' in start ? start.intent : start.funding

/** For the log. */
export const factsOf = (start: Start) =>
  'intent' in start
    ? { intent: start.intent.id, requestId: start.intent.requestId }
    : { funding: start.funding.id }

/** False when there was a run already. */
async function startOrFind(start: () => Promise<unknown>): Promise<boolean> {
  try {
    await start()
    return true
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
    return false
  }
}
