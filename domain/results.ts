import { feederOf, lastKind, type ExecutionPlan, type Step } from './intent.js'
import { assetText } from './money.js'

/** A step's effect as the chain recorded it. Gas figures are the operation's own share. */
export type Effect = {
  sequence: number
  kind: string
  chain: string
  confirmed: boolean
  success: boolean
  txHash: string
  gasUsed: bigint
  gasCostUsd: number
  units?: bigint
  blockNumber?: number
  /** What its block says of the time, ISO 8601; absent when nobody has told. */
  minedAt?: string
}

export type Results = {
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
    gasCostUsd: number
    /** The call inside was reverted: only its gas was spent. Absent when it was not. */
    failed?: true
  }[]
  totalGasUsed: string
  totalGasCostUsd: number
  /** Decimal text of what the plan has brought, and of `lend` the APY in percent; once all steps are done. */
  finalAmount?: string
  apy?: number
}

/** The confirmed effect that completes a step; undefined while there is none. */
export function completionOf(step: Step, effects: Effect[]): Effect | undefined {
  return effects.find(
    ({ sequence, kind, confirmed, success }) =>
      sequence === step.sequence && kind === lastKind(step) && confirmed && success,
  )
}

/** What the effects of an intent add up to. */
export function resultsOf(plan: ExecutionPlan, effects: Effect[]): Results {
  const done = plan.steps.flatMap((step) => completionOf(step, effects) ?? [])
  const microUsd = effects.reduce((sum, effect) => sum + Math.round(effect.gasCostUsd * 1e6), 0)
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
    totalGasCostUsd: microUsd / 1e6,
    ...(isOver ? { finalAmount: assetText(finalUnits(plan, done)) } : {}),
    ...(isOver && plan.expectedApy !== undefined ? { apy: plan.expectedApy } : {}),
  }
}

/** What the steps have brought that no other step has spent. */
function finalUnits(plan: ExecutionPlan, done: Effect[]): bigint {
  const spent = plan.steps.map((step) => feederOf(plan, step)?.sequence)
  return done
    .filter(({ sequence }) => !spent.includes(sequence))
    .reduce((sum, { units = 0n }) => sum + units, 0n)
}
