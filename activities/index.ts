import { deposit, type StepInput } from './deposit.js'
import { toRetryable } from './failures.js'
import { fund, type FundInput } from './fund.js'
import { finalizeIntent, planIntent, type FinalizeInput } from './status.js'
import { recordYields, type RecordYieldsInput } from './yields.js'
import type { DepositStep } from '../domain/intent.js'
import type { PlanningTools } from '../planning/intents.js'
import type { Tools } from './step.js'

/** Every activity, by the name under which workflows and the Temporal UI know it. */
export function createActivities(tools: Tools & PlanningTools) {
  return {
    planIntent: retryable((input: { intentId: string }) => planIntent(tools, input)),
    deposit: retryable((input: StepInput<DepositStep>) => deposit(tools, input)),
    fund: retryable((input: FundInput) => fund(tools, input)),
    recordYields: retryable((input: RecordYieldsInput) => recordYields(tools, input)),
    finalizeIntent: retryable((input: FinalizeInput) => finalizeIntent(tools.db, input)),
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
