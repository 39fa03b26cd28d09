import type { Action, Delay, IntentError, IntentStatus } from './intent.js'
import type { OperationKind } from './operation.js'

/**
 * Something that has happened to an intent. `id` names it for ever. What is read later than another one may
 * have the lower id: of two transactions that ran at the same time either may come first.
 */
export type IntentEvent = { id: bigint; intentId: string; at: Date } & Happening

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

type StepFacts = { step: number; kind: Exclude<OperationKind, 'fund'>; chain: string }
