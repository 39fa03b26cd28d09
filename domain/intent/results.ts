import { sourceStepOf, lastKind, type StepPlan, type PlanStep } from './intent.js'
import { assetText, sumKnownUsd } from '../money.js'

/** The effect of a step as recorded by the chain. Gas figures are the operation's own share. */
export type Effect = {
  sequence: number
  kind: string
  chain: string
  confirmed: boolean
  success: boolean
  txHash: string
  gasUsed: bigint
  /** Null when the price of ETH was unknown. */
  gasCostUsd: number | null
  units?: bigint
  blockNumber?: number
  /** Timestamp of its block, ISO 8601. Absent when unknown. */
  minedAt?: string
}

export type IntentResults = {
  completedSteps: number
  transactions: {
    type: string
    step: number
    txHash: string
    chain: string
    blockNumber?: number
    /** ISO 8601. */
    timestamp?: string
    gasUsed: string
    gasCostUsd: number | null
    /** True when the inner call reverted and only its gas was spent. Absent otherwise. */
    failed?: true
  }[]
  totalGasUsed: string
  /** Null when one of the costs is. */
  totalGasCostUsd: number | null
  /** Decimal text of the plan's output, and for `lend` the APY in percent. Present when all steps are completed. */
  finalAmount?: string
  apy?: number
}

/** The confirmed effect that completes a step, or undefined. */
export function completionOf(step: PlanStep, effects: Effect[]): Effect | undefined {
  return effects.find(
    ({ sequence, kind, confirmed, success }) =>
      sequence === step.sequence && kind === lastKind(step) && confirmed && success,
  )
}

/** The sum of the effects of an intent. */
export function resultsOf(plan: StepPlan, effects: Effect[]): IntentResults {
  const done = plan.steps.flatMap((step) => completionOf(step, effects) ?? [])
  const isOver = done.length === plan.steps.length
  return {
    completedSteps: done.length,
    transactions: effects.map((effect) => ({
      type: effect.kind,
      step: effect.sequence,
      txHash: effect.txHash,
      chain: effect.chain,
      ...(effect.blockNumber === undefined ? {} : { blockNumber: effect.blockNumber }),
      ...(effect.minedAt === undefined ? {} : { timestamp: effect.minedAt }),
      gasUsed: effect.gasUsed.toString(),
      gasCostUsd: effect.gasCostUsd,
      ...(effect.success ? {} : { failed: true as const }),
    })),
    totalGasUsed: effects.reduce((sum, effect) => sum + effect.gasUsed, 0n).toString(),
    totalGasCostUsd: sumKnownUsd(effects.map(({ gasCostUsd }) => gasCostUsd)),
    ...(isOver ? { finalAmount: assetText(finalUnits(plan, done)) } : {}),
    ...(isOver && plan.expectedApy !== undefined ? { apy: plan.expectedApy } : {}),
  }
}

/** Output of the steps that no other step has spent. */
function finalUnits(plan: StepPlan, done: Effect[]): bigint {
  const spent = plan.steps.map((step) => sourceStepOf(plan, step)?.sequence)
  return done
    .filter(({ sequence }) => !spent.includes(sequence))
    .reduce((sum, { units = 0n }) => sum + units, 0n)
}
