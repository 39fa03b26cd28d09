import {
  assertFed,
  completeIfLast,
  failIfSimulated,
  runStep,
  type StepInput,
  type StepResult,
  type Tools,
} from './step.js'
import type { Unsettled } from '../domain/intent/waitReason.js'
import type { DepositStep, SwapStep, WithdrawStep } from '../domain/intent/intent.js'

/** Deposits into the market of the step on behalf of the wallet. */
export const deposit = (tools: Tools, input: StepInput<DepositStep>) => runOnChain(tools, input)

/** Withdraws from the market of the step to the wallet. */
export const withdraw = (tools: Tools, input: StepInput<WithdrawStep>) => runOnChain(tools, input)

/** Swaps tokens of the wallet. */
export const swap = (tools: Tools, input: StepInput<SwapStep>) => runOnChain(tools, input)

async function runOnChain(
  tools: Tools,
  input: StepInput<DepositStep | WithdrawStep | SwapStep>,
): Promise<StepResult | Unsettled> {
  const { intentId, accountId, walletId, step, deadlineMs, shown } = input
  failIfSimulated(input)
  const { type, sequence, chain } = step
  const { chainId } = tools.registry.get(chain)
  const order = { intentId, sequence, kind: type, accountId, walletId, chainId }
  await assertFed(tools, input)
  const result = await runStep(tools, { order, deadlineMs, shown })
  return completeIfLast(tools, input, result)
}
