import { isTerminal } from '../intent/intent.js'
import type { IntentAction, IntentDelay, IntentFailure, LifecycleStatus } from '../intent/intent.js'
import type { OperationKind } from '../intent/operation.js'

/**
 * An event of an intent, or of an account outside its intents. `id` is permanent. A later event may have the lower id,
 * because concurrent transactions commit in any order.
 */
export type IntentEvent = {
  id: bigint
  /** Null when no wallet is concerned, or when the intent is deleted. */
  walletId: string | null
  at: Date
} & ((Happening & { intentId: string }) | (AccountHappening & { intentId: null }))

/**
 * What happened, with the data that readers need. `status` is the new status of the intent, `step` the sequence of a
 * step, `chain` its canonical name, `units` decimal text of base units.
 */
export type Happening =
  | {
      type: 'created'
      data: {
        status: LifecycleStatus
        walletId: string
        action: IntentAction
        asset: string
        units: string
      }
    }
  | { type: 'planned'; data: { status: LifecycleStatus; steps: number } }
  | { type: 'executing' | 'completed'; data: { status: LifecycleStatus } }
  /** A reorg invalidated the reported end. Another end is reported later. */
  | { type: 'reopened'; data: { status: LifecycleStatus } }
  | { type: 'failed' | 'cancelled'; data: { status: LifecycleStatus; error: IntentFailure } }
  | { type: 'delayed'; data: { status: LifecycleStatus; delay: IntentDelay } }
  | { type: 'delay_over'; data: { status: LifecycleStatus } }
  /** Burned money arrived after the intent had failed. `error.recovery` states where. */
  | { type: 'recovered'; data: { status: LifecycleStatus; error: IntentFailure } }
  | { type: 'step_started'; data: StepFacts }
  /** An operation of the step is confirmed, but not its last one: the burn of a bridge. */
  | { type: 'step_progressed' | 'step_completed'; data: StepFacts & { txHash: string } }
  /** `code` for a step that ended unsigned. A call that failed on chain has a `txHash` and the code of its kind. */
  | { type: 'step_failed'; data: StepFacts & { code?: string; txHash?: string } }
  /** A reorg invalidated the last reported state of this operation. The service resends it. */
  | { type: 'step_reverted'; data: StepFacts & { txHash: string } }

/** What happened outside intents. */
export type AccountHappening =
  | { type: 'wallet.created'; data: { userId: string; address: string } }
  /** Test money has arrived. */
  | {
      type: 'wallet.funded'
      data: { fundingId: string; chain: string; asset: string; units: string; txHash?: string }
    }
  /** Less than a tenth of the monthly credits is left, or none. Each is emitted once until new credits arrive. */
  | { type: 'credits.low' | 'credits.exhausted'; data: { balance: number; monthlyCredits: number } }
  | { type: 'webhook.test'; data: { webhookId: string } }
  | { type: 'webhook.disabled'; data: { webhookId: string; reason: string } }

type StepFacts = { step: number; kind: Exclude<OperationKind, 'fund'>; chain: string }

type IntentEventType = Happening['type']
type AccountEventType = AccountHappening['type']
export type EventType = IntentEventType | AccountEventType

/** The public name of an event type. */
export const toPublicType = (type: EventType): PublicEventType =>
  isOfAccount(type) ? type : `intent.${type}`
export type PublicEventType = `intent.${IntentEventType}` | AccountEventType

/** The event type of a public name. */
export const fromPublicType = (name: PublicEventType): EventType =>
  name.startsWith('intent.') ? (name.slice('intent.'.length) as EventType) : (name as EventType)

const accountEventTypes = [
  ...(['wallet.created', 'wallet.funded', 'credits.low', 'credits.exhausted'] as const),
  ...(['webhook.test', 'webhook.disabled'] as const),
] as const satisfies readonly AccountEventType[]
const isOfAccount = (type: EventType): type is AccountEventType =>
  accountEventTypes.some((one) => one === type)

/** All event types: of intents in the order of their life, then of accounts. */
export const eventTypes = [
  ...(['created', 'planned', 'executing'] as const),
  ...(['step_started', 'step_progressed', 'step_completed', 'step_failed'] as const),
  ...(['step_reverted', 'delayed', 'delay_over'] as const),
  ...(['completed', 'failed', 'cancelled', 'recovered', 'reopened'] as const),
  ...accountEventTypes,
] as const satisfies readonly EventType[]

/**
 * True when the event ends its intent, false when more events will follow, undefined when it changes neither. An intent
 * that failed with BRIDGE_TIMEOUT waits for its recovery. A `reopened` event revokes the end.
 */
export function settles(event: Happening | AccountHappening): boolean | undefined {
  switch (event.type) {
    case 'completed':
    case 'cancelled':
    case 'recovered':
      return true
    case 'failed':
      return !isAwaited(event.data.error)
    case 'reopened':
      return false
    default:
      return undefined
  }
}

/** The event types on which `settles` decides. */
export const settlingTypes = [
  ...(['completed', 'cancelled', 'recovered', 'failed', 'reopened'] as const),
] as const satisfies readonly EventType[]

/** True when an intent in this state will have no more events, consistent with `settles`. */
export const isSettled = (status: LifecycleStatus, error: IntentFailure | null): boolean =>
  isTerminal(status) && !(error && isAwaited(error))

/** True while money of the intent is in the bridge and will arrive. */
const isAwaited = ({ code, recovery }: IntentFailure) => code === 'BRIDGE_TIMEOUT' && !recovery
