import { toUnits } from '../domain/money.js'
import { runStep, type StepResult, type Tools } from './step.js'
import type { Registry } from '../chains/registry.js'
import type { DepositStep } from '../domain/intent.js'

export type StepInput<Step> = {
  intentId: string
  accountId: string
  walletId: string
  step: Step
  deadlineMs: number
}

/** Deposits into the step's market for the wallet itself. */
export function deposit(
  tools: Tools & { registry: Registry },
  input: StepInput<DepositStep>,
): Promise<StepResult> {
  const { intentId, accountId, walletId, step, deadlineMs } = input
  const { chainId, usdc } = tools.registry.get(step.chain)
  const units = toUnits(step.amount, usdc.decimals).toString()
  const { sequence } = step
  return runStep(tools, {
    effect: { intentId, sequence, kind: 'deposit', accountId, walletId, chainId, input: { units } },
    deadlineMs,
    failureCode: 'DEPOSIT_FAILED',
  })
}
