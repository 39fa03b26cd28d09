import { isTerminal } from './intent.js'
import type { Action, Delay, IntentError, IntentStatus } from './intent.js'
import type { OperationKind } from './operation.js'

/**
 * Something that has happened to an intent, or in an account beside its intents. `id` names it for ever. What is
 * read later than another one may have the lower id: of two transactions that ran at the same time either may come
 * first.
 */
export type IntentEvent = {
  id: bigint
  /** Null of what no wallet is concerned by, and of what no intent is left of. */
  walletId: string | null
  at: Date
} & ((Happening & { intentId: string }) | (AccountHappening & { intentId: null }))

/**
 * What happened, with what a reader needs to tell it. `status` is the intent's from then on, `step` the
 * sequence of a step, `chain` its canonical name, `units` decimal text of base units.
 */
export type Happening =
  | {
      type: 'created'
      data: { status: IntentStatus; walletId: string; action: Action; asset: string; units: string }
    }
  | { type: 'planned'; data: { status: IntentStatus; steps: number } }
  | { type: 'executing' | 'completed'; data: { status: IntentStatus } }
  /** What was told of its end does not hold any more: a reorg turned it round. Another end is told later. */
  | { type: 'reopened'; data: { status: IntentStatus } }
  | { type: 'failed' | 'cancelled'; data: { status: IntentStatus; error: IntentError } }
  | { type: 'delayed'; data: { status: IntentStatus; delay: Delay } }
  | { type: 'delay_over'; data: { status: IntentStatus } }
  /** Burned money came out after the intent had failed for its sake: `error.recovery` tells where. */
  | { type: 'recovered'; data: { status: IntentStatus; error: IntentError } }
  | { type: 'step_started'; data: StepFacts }
  /** A part of the step is confirmed, and not the last one: the burn of a bridge. */
  | { type: 'step_progressed' | 'step_completed'; data: StepFacts & { txHash: string } }
  /** `code` of what ended unsigned; a call that failed on chain has a `txHash` and the code of its kind. */
  | { type: 'step_failed'; data: StepFacts & { code?: string; txHash?: string } }
  /** A reorg took back what was told of this operation last. It is sent again by itself. */
  | { type: 'step_reverted'; data: StepFacts & { txHash: string } }

/** What happened beside intents. */
export type AccountHappening =
  | { type: 'wallet.created'; data: { userId: string; address: string } }
  /** Test money has arrived. */
  | {
      type: 'wallet.funded'
      data: { fundingId: string; chain: string; asset: string; units: string; txHash?: string }
    }
  /** Less than a tenth of a month's credits is left, or nothing: each told once until new ones come. */
  | { type: 'credits.low' | 'credits.exhausted'; data: { balance: number; monthlyCredits: number } }
  | { type: 'webhook.test'; data: { webhookId: string } }
  | { type: 'webhook.disabled'; data: { webhookId: string; reason: string } }

type StepFacts = { step: number; kind: Exclude<OperationKind, 'fund'>; chain: string }

type IntentEventType = Happening['type']
type AccountEventType = AccountHappening['type']
export type EventType = IntentEventType | AccountEventType

/** The name by which callers know a type. */
export const toPublicType = (type: EventType): PublicEventType =>
  isOfAccount(type) ? type : `intent.${type}`
export type PublicEventType = `intent.${IntentEventType}` | AccountEventType

/** The type of a name that callers know. */
export const fromPublicType = (name: PublicEventType): EventType =>
  name.startsWith('intent.') ? (name.slice('intent.'.length) as EventType) : (name as EventType)

const accountEventTypes = [
  ...(['wallet.created', 'wallet.funded', 'credits.low', 'credits.exhausted'] as const),
  ...(['webhook.test', 'webhook.disabled'] as const),
] as const satisfies readonly AccountEventType[]
const isOfAccount = (type: EventType): type is AccountEventType =>
  accountEventTypes.some((one) => one === type)

/** Every type: those of intents in the order in which an intent meets them, then those beside intents. */
export const eventTypes = [
  ...(['created', 'planned', 'executing'] as const),
  ...(['step_started', 'step_progressed', 'step_completed', 'step_failed'] as const),
  ...(['step_reverted', 'delayed', 'delay_over'] as const),
  ...(['completed', 'failed', 'cancelled', 'recovered', 'reopened'] as const),
  ...accountEventTypes,
] as const satisfies readonly EventType[]

/**
 * True when nothing more is to be expected of an intent after this event, false when there is, undefined when
 * the event leaves it as it was. Who failed with BRIDGE_TIMEOUT waits for its recovery; an end that a reorg
 * turned round is none.
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

/** The types by which `settles` decides. */
export const settlingTypes = [
  ...(['completed', 'cancelled', 'recovered', 'failed', 'reopened'] as const),
] as const satisfies readonly EventType[]

/** True when nothing more is to be expected of an intent in this state, as `settles` says it of its events. */
export const isSettled = (status: IntentStatus, error: IntentError | null): boolean =>
  isTerminal(status) && !(error && isAwaited(error))

/** Its money is in the bridge and will come out. */
const isAwaited = ({ code, recovery }: IntentError) => code === 'BRIDGE_TIMEOUT' && !recovery
