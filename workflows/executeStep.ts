import { proxyActivities } from '@temporalio/workflow'
import { summaryOf } from './details.js'
import { sourceStepOf, lastKind, type StepPlan, type PlanStep } from '../domain/intent/intent.js'
import { DAY_MS } from '../runtime/durations.js'
import type { Activities } from '../activities/index.js'
import type { StepResult } from '../activities/step.js'
import type { Fault } from '../domain/simulate.js'
import type { WaitReason, Unsettled } from '../domain/intent/waitReason.js'
import type { UntilSettled } from './untilSettled.js'
import type { IntentView } from './view.js'

/** Without scheduleToCloseTimeout: such a timeout would leave open whether money has moved. */
const steps = proxyActivities<
  Pick<Activities, 'deposit' | 'withdraw' | 'swap' | 'bridge' | 'awaitAttestation' | 'mint'>
>({
  startToCloseTimeout: '75s',
  heartbeatTimeout: '15s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
})

/** The intent of a step. `simulate`: a failure that the caller simulates. */
export type IntentInput = {
  intentId: string
  accountId: string
  walletId: string
  simulate?: Fault
}
type ActivityCall = (shown: WaitReason['code'] | undefined) => Promise<StepResult | Unsettled>
export type StepContext = { view: IntentView; untilSettled: UntilSettled }

/**
 * Executes a step by one activity, which has the name of the step. A bridge takes three.
 *
 * @returns Whether the step has completed its intent. Only the last step can.
 */
export async function executeStep(
  input: IntentInput,
  { plan, step }: { plan: StepPlan; step: PlanStep },
  { view, untilSettled }: StepContext,
): Promise<boolean> {
  const { sequence } = step
  const shared = sharedBy(input, plan, step)
  const options = { summary: summaryOf(step) }
  view.step(sequence)

  const run = async (what: string, chain: string, call: ActivityCall) => {
    // An operator may complete an activity by hand with any result.
    const result = (await untilSettled(call)) as Partial<StepResult> | null
    const { txHash = 'unknown', url } = result ?? {}
    view.mark({ sequence, what, chain, txHash, ...(url && { url }) })
    return shared.isLast === true && result?.isCompleted === true
  }

  switch (step.type) {
    case 'deposit':
      return run('deposited', step.chain, (shown) =>
        steps.deposit.executeWithOptions(options, [{ ...shared, step, shown }]),
      )
    case 'withdraw':
      return run('withdrawn', step.chain, (shown) =>
        steps.withdraw.executeWithOptions(options, [{ ...shared, step, shown }]),
      )
    case 'swap':
      return run('swapped', step.chain, (shown) =>
        steps.swap.executeWithOptions(options, [{ ...shared, step, shown }]),
      )
    case 'bridge': {
      await run('burned', step.from, (shown) =>
        steps.bridge.executeWithOptions(options, [{ ...shared, step, shown }]),
      )
      const wait = { summary: `attestation of ${options.summary}` }
      const attested = await untilSettled(() =>
        steps.awaitAttestation.executeWithOptions(wait, [{ ...shared, step }]),
      )
      view.resume()
      const nonce = (attested as Partial<typeof attested> | null)?.nonce
      const end = { summary: `mint ${step.asset} on ${step.to}` }
      return run('minted', step.to, (shown) =>
        steps.mint.executeWithOptions(end, [{ ...shared, step, nonce, shown }]),
      )
    }
  }
}

/** The input that all activities of a step share. */
function sharedBy(input: IntentInput, plan: StepPlan, step: PlanStep) {
  const { intentId, accountId, walletId, simulate } = input
  const sourceStep = sourceStepOf(plan, step)
  const isLast = step === plan.steps.at(-1)
  return {
    ...{ intentId, accountId, walletId },
    // An unsigned step expires then. A shorter outage of an RPC endpoint only delays it.
    deadlineMs: Date.now() + DAY_MS,
    ...(sourceStep && { fedBy: { sequence: sourceStep.sequence, kind: lastKind(sourceStep) } }),
    ...(isLast && { isLast: true as const }),
    ...(simulate && { simulate }),
  }
}
