import { proxyActivities } from '@temporalio/workflow'
import { summaryOf } from './details.js'
import { feederOf, lastKind, type ExecutionPlan, type Step } from '../domain/intent.js'
import { DAY_MS } from '../durations.js'
import type { Activities } from '../activities/index.js'
import type { StepResult } from '../activities/step.js'
import type { Fault } from '../domain/simulate.js'
import type { Hold, Unsettled } from '../domain/hold.js'
import type { UntilSettled } from './untilSettled.js'
import type { IntentView } from './view.js'

/** No scheduleToClose: an end by the server's clock would leave open whether money has moved. */
const steps = proxyActivities<
  Pick<Activities, 'deposit' | 'withdraw' | 'swap' | 'bridge' | 'awaitAttestation' | 'mint'>
>({
  startToCloseTimeout: '75s',
  heartbeatTimeout: '15s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
})

/** The intent of a step. `simulate`: a failure that the caller asked for. */
export type IntentInput = {
  intentId: string
  accountId: string
  walletId: string
  simulate?: Fault
}
type Call = (shown: Hold['code'] | undefined) => Promise<StepResult | Unsettled>
export type Surroundings = { view: IntentView; untilSettled: UntilSettled }

/**
 * Executes a step: one activity, named as the step; three for a bridge.
 *
 * @returns Whether it has completed the intent, as the last step does.
 */
export async function executeStep(
  input: IntentInput,
  { plan, step }: { plan: ExecutionPlan; step: Step },
  { view, untilSettled }: Surroundings,
): Promise<boolean> {
  const { sequence } = step
  const shared = sharedBy(input, plan, step)
  const options = { summary: summaryOf(step) }
  view.step(sequence)

  const run = async (what: string, chain: string, call: Call) => {
    // An operator who completes an activity by hand may give it any result.
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
      view.goOn()
      const nonce = (attested as Partial<typeof attested> | null)?.nonce
      const end = { summary: `mint ${step.asset} on ${step.to}` }
      return run('minted', step.to, (shown) =>
        steps.mint.executeWithOptions(end, [{ ...shared, step, nonce, shown }]),
      )
    }
  }
}

/** What all activities of a step receive. */
function sharedBy(input: IntentInput, plan: ExecutionPlan, step: Step) {
  const { intentId, accountId, walletId, simulate } = input
  const feeder = feederOf(plan, step)
  const isLast = step === plan.steps.at(-1)
  return {
    ...{ intentId, accountId, walletId },
    // A step of which nothing is signed by then is given up. An RPC that is down for hours only delays.
    deadlineMs: Date.now() + DAY_MS,
    ...(feeder && { fedBy: { sequence: feeder.sequence, kind: lastKind(feeder) } }),
    ...(isLast && { isLast: true as const }),
    ...(simulate && { simulate }),
  }
}
