import { awaitAttestation, bridge, mint } from './bridge.js'
import { toRetryable } from './failures.js'
import { fund, type FundInput } from './fund.js'
import { deposit, swap, withdraw } from './market.js'
import { finalizeReported, planIntent, type FinalizeInput } from './status.js'
import { recordYields, type RecordYieldsInput } from './yields.js'
import type { BridgeStep, DepositStep, SwapStep, WithdrawStep } from '../domain/intent/intent.js'
import type { StepInput, Tools } from './step.js'

/** Creates all activities of the task queue `intents`. The keys are the activity types in workflows and in the UI. */
export function createActivities(tools: Tools) {
  return {
    planIntent: retryable((input: { intentId: string }) => planIntent(tools, input)),
    deposit: retryable((input: StepInput<DepositStep>) => deposit(tools, input)),
    withdraw: retryable((input: StepInput<WithdrawStep>) => withdraw(tools, input)),
    swap: retryable((input: StepInput<SwapStep>) => swap(tools, input)),
    bridge: retryable((input: StepInput<BridgeStep>) => bridge(tools, input)),
    awaitAttestation: retryable((input: StepInput<BridgeStep>) => awaitAttestation(tools, input)),
    mint: retryable((input: StepInput<BridgeStep> & { nonce: string | undefined }) =>
      mint(tools, input),
    ),
    fund: retryable((input: FundInput) => fund(tools, input)),
    recordYields: retryable((input: RecordYieldsInput) => recordYields(tools, input)),
    finalizeIntent: retryable((input: FinalizeInput) => finalizeReported(tools.db, input)),
  }
}

export type Activities = ReturnType<typeof createActivities>

function retryable<Input, Output>(activity: (input: Input) => Promise<Output>) {
  return async (input: Input): Promise<Output> => {
    try {
      return await activity(input)
    } catch (error) {
      throw toRetryable(error)
    }
  }
}
