import { transactionUrl, type Chain, type Registry } from '../../../evm/registry.js'
import { emptyTimeline, type IntentTimeline } from '../../../db/intents/timeline.js'
import { currentFunds } from '../../../domain/intent/funds.js'
import {
  isTerminal,
  laterStatus,
  plannedWithdrawal,
  spendingChain,
  type StepPlan,
  type IntentRequest,
  type LifecycleStatus,
  type Progress,
} from '../../../domain/intent/intent.js'
import { possibleActions } from '../../../domain/intent/possibleActions.js'
import { resultsOf } from '../../../domain/intent/results.js'
import { assetText } from '../../../domain/money.js'
import {
  lastChange,
  stepTimelines,
  type StepTimeline,
  type Usual,
} from '../../../domain/intent/timeline.js'
import { waitingMessage, type WaitingFor } from '../../../domain/intent/waiting.js'
import { bridgeOf } from '../../../evm/bridges/bridges.js'
import { requestOf } from '../../../db/intents/storedRequest.js'
import { planBody } from './planBody.js'
import type { Caller } from '../../http/auth/caller.js'
import type { StoredIntent } from '../../../db/intents/intents.js'

/**
 * Facts outside the row: the scopes of its reader, the timeline from other rows, absent for a new intent, and the
 * progress of its workflow.
 */
export type IntentFacts = Pick<Caller, 'scopes'> & {
  timeline?: IntentTimeline
  progress?: Progress | undefined
}

/**
 * The intent resource, built from the rows. The progress of a running workflow may be newer: it can raise the status,
 * the current step and the count of completed steps, but never lower them. Its wait reason is used when no row has one.
 */
export function intentBody(registry: Registry, intent: StoredIntent, known: IntentFacts) {
  const { plan } = intent
  const { timeline = emptyTimeline, progress, scopes } = known
  // Without a plan the body has no steps for the progress.
  const running = plan && progress && !isTerminal(progress.status) ? progress : undefined
  const status = running ? laterStatus(intent.status, running.status) : intent.status
  const since = changeOf(intent)
  const facts = { status, error: intent.error, since, ...timeline }
  const steps = plan && stepTimelines(plan, facts, usualOf(registry))
  return withoutAbsent({
    id: intent.id,
    walletId: intent.walletId,
    userId: timeline.userId,
    status,
    action: intent.action,
    amount: Number(assetText(BigInt(intent.units))),
    asset: intent.asset,
    ...chainFields(intent),
    metadata: intent.metadata,
    retryOf: intent.retryOf,
    retriedBy: timeline.retriedBy,
    executionPlan: plan && planBody(plan, steps),
    currentStep: currentStep(status, steps, running),
    waitingFor: waitingOf(intent, { ...facts, steps }) ?? waitingOfWorkflow(plan, running),
    results: resultsBody(registry, { plan, status }, { timeline, progress: running }),
    funds: plan && currentFunds(plan, timeline.effects),
    delay: isTerminal(status) ? null : intent.delay,
    error: intent.error,
    ...actionFields(intent, timeline, scopes),
    requestId: intent.requestId,
    createdAt: intent.createdAt.toISOString(),
    updatedAt: lastChange(since, timeline.operations),
    ...endTimes(intent),
  })
}

/** What the caller can do with the intent now, and from when on it can be retried. */
function actionFields(intent: StoredIntent, timeline: IntentTimeline, scopes: Caller['scopes']) {
  const { status, plan } = intent
  if (!scopes.includes('write')) return { actions: [] }
  const facts = { status, plan, request: requestOf(intent), ...timeline }
  const until = timeline.unsettled?.until
  const canRetryThen = possibleActions({ ...facts, unsettled: null }).includes('retry')
  return {
    actions: possibleActions(facts),
    retryFrom: until && canRetryThen ? until.toISOString() : null,
  }
}

const endTimes = ({ completedAt, cancelledAt, endedAt }: StoredIntent) => ({
  completedAt: completedAt && completedAt.toISOString(),
  cancelledAt: cancelledAt && cancelledAt.toISOString(),
  endedAt: endedAt && endedAt.toISOString(),
})

/** The first step that is not completed, while the intent runs. */
function currentStep(
  status: LifecycleStatus,
  steps: StepTimeline[] | null,
  progress: Progress | undefined,
): number | null {
  if (isTerminal(status)) return null
  const open = steps?.find((step) => step.status !== 'completed')?.sequence
  return open === undefined ? null : Math.max(open, progress?.currentStep ?? 0)
}

// `endedAt` is stamped after `updatedAt` in the same statement.
const changeOf = ({ createdAt, updatedAt, endedAt }: StoredIntent) =>
  new Date(Math.max(+(updatedAt ?? createdAt), +(endedAt ?? 0))).toISOString()

/** Drops null fields. */
function withoutAbsent(fields: Record<string, unknown>) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

/** The chains with the names of the request. */
function chainFields({ action, chain, fromChain }: StoredIntent) {
  return action === 'bridge' ? { fromChain, toChain: chain } : { chain }
}

/** Usual duration of a wait in seconds, undefined when unknown. */
const usualOf =
  (registry: Registry): Usual =>
  (step, code, chain) => {
    const place = findChain(registry, chain)
    if (code === 'MINING' || code === 'CONFIRMATIONS') return place?.stepSeconds[1]
    if (code !== 'ATTESTATION' || step.type !== 'bridge') return undefined
    return place && bridgeOf(step.protocol).usualSeconds(place, step.speed)[1]
  }

/** Undefined for a stored chain that the deployment no longer has. */
const findChain = ({ chains }: Registry, name: string): Chain | undefined =>
  chains.find((chain) => chain.name === name)

/** The wait reason of its step. Without steps: of its planning or start. */
function waitingOf(
  { chain, seenBlocks }: StoredIntent,
  { status, since, steps }: Seen,
): WaitingFor | null {
  const step = steps?.find(({ waitingFor }) => waitingFor)
  if (step?.waitingFor) return step.waitingFor
  if (status === 'planning') return { ...waitReason('SERVICE', ''), since }
  if (status !== 'pending') return null
  return { ...waitReason(seenBlocks ? 'INDEXING' : 'CHAIN_SILENT', chain ?? 'a chain'), since }
}

function waitingOfWorkflow(
  plan: StepPlan | null,
  progress: Progress | undefined,
): WaitingFor | null {
  const step = plan?.steps.find(({ sequence }) => sequence === progress?.currentStep)
  if (!step || !progress?.waitingFor) return null
  const { code, since } = progress.waitingFor
  return { ...waitReason(code, spendingChain(step)), since }
}

type Seen = { status: LifecycleStatus; since: string; steps: StepTimeline[] | null }

const waitReason = (code: WaitingFor['code'], chain: string) => ({
  code,
  message: waitingMessage(code, chain),
})

function resultsBody(
  registry: Registry,
  { plan, status }: Pick<StoredIntent, 'plan' | 'status'>,
  { timeline, progress }: { timeline: IntentTimeline; progress: Progress | undefined },
) {
  if (!plan || status === 'pending' || status === 'planning') return null
  const results = resultsOf(plan, timeline.effects)
  const completedSteps = Math.max(results.completedSteps, progress?.completedSteps ?? 0)
  const transactions = results.transactions.map((transaction) => {
    const chain = findChain(registry, transaction.chain)
    const explorerUrl = chain && transactionUrl(chain, transaction.txHash)
    return { ...transaction, ...(explorerUrl ? { explorerUrl } : {}) }
  })
  return { ...results, completedSteps, transactions }
}

/** The plan of a request, in the fields of an intent. */
export function previewBody(
  walletId: string,
  { action, asset, amountUnits }: IntentRequest,
  plan: StepPlan,
) {
  const units = amountUnits === 'max' ? plannedWithdrawal(plan) : amountUnits
  const amount = Number(assetText(units))
  return { dryRun: true, walletId, action, amount, asset, executionPlan: planBody(plan, null) }
}
