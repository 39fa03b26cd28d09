import { assetUnits } from '../money.js'
import type { FailureCode } from './failures.js'
import type { OperationKind } from './operation.js'
import type { WaitingCode } from './waiting.js'

export const actions = ['lend', 'withdraw', 'bridge'] as const
export type IntentAction = (typeof actions)[number]

/** A validated request: amounts in base units, chains by their canonical names. */
export type LendRequest = {
  action: 'lend'
  asset: string
  amountUnits: bigint
  chain?: string
  /** Set: choose the market with the highest return after costs over this many days, instead of the best rate. */
  netOverDays?: number
}
export type WithdrawRequest = {
  action: 'withdraw'
  asset: string
  /** `max`: the whole position in the chain's markets, including interest. */
  amountUnits: bigint | 'max'
  chain: string
  /** On a retry: withdrawn money that is still in another asset. It is swapped first. */
  unswapped?: { asset: string; units: bigint }
}
export type BridgeRequest = {
  action: 'bridge'
  asset: string
  amountUnits: bigint
  fromChain: string
  toChain: string
}
export type IntentRequest = LendRequest | WithdrawRequest | BridgeRequest

/**
 * The fields that all steps share. `amount` is decimal text in whole tokens of `asset`: what the step spends. After a
 * bridge or a swap it is a forecast. The step spends what arrived.
 */
type AnyStep = { sequence: number; asset: string; amount: string; protocol: string }

/** A deposit or withdrawal. `market` is the contract that is called. */
export type DepositStep = AnyStep & { type: 'deposit'; chain: string; market: string }
export type WithdrawStep = AnyStep & {
  type: 'withdraw'
  chain: string
  market: string
  /** Withdraws the whole position at its value at execution. */
  everything?: true
}
/** `arrives` is the forecast at the destination, `maxFee` the highest fee that the bridge may keep. */
export type BridgeStep = AnyStep & {
  type: 'bridge'
  from: string
  to: string
  speed: BridgeSpeed
  maxFee: string
  arrives: string
}
/** `minimum` of `toAsset` for `amount` of `asset`, reduced in proportion when less arrived. */
export type SwapStep = AnyStep & {
  type: 'swap'
  chain: string
  toAsset: string
  arrives: string
  minimum: string
}
export type PlanStep = DepositStep | WithdrawStep | BridgeStep | SwapStep
export type BridgeSpeed = 'fast' | 'standard'

export const strategies = [
  'direct-deposit',
  'single-bridge',
  'direct-withdraw',
  'direct-bridge',
] as const

export type StepPlan = {
  strategy: (typeof strategies)[number]
  targetChain: string
  /** For `lend` and `withdraw`: the market of the deposit, or of the first withdrawal. */
  targetProtocol?: string
  /** For `lend`, in percent. */
  expectedApy?: number
  steps: PlanStep[]
  /** Null while the price of ETH is unknown. */
  estimatedGasUsd: number | null
  estimatedTime: string
  reasoning: string
  /** Warnings for the caller. Absent: none. */
  warnings?: PlanningWarning[]
  /** Other options, the best first. Absent: the planner knows none. */
  alternatives?: MarketAlternative[]
}

export const warningCodes = [
  'NOT_WORTH_IT',
  'ASSET_CHANGES',
  'MARKET_NEARLY_FULL',
  'LOW_LIQUIDITY',
  'COSTS_UNKNOWN',
] as const
export type PlanningWarning = { code: (typeof warningCodes)[number]; message: string }

/**
 * A market that was not chosen. `apy` in percent. `netUsd`: the return of one year after the cost of moving there, in
 * USD, absent without a route. `why` is a sentence.
 */
export type MarketAlternative = {
  chain: string
  protocol: string
  asset: string
  apy: number
  netUsd?: number
  why: string
}

/** The chain on which a step spends money. */
export const spendingChain = (step: PlanStep) => (step.type === 'bridge' ? step.from : step.chain)

/** The chains on which a plan has operations. */
export const chainsOf = ({ steps }: StepPlan): string[] => [
  ...new Set(
    steps.flatMap((step) => (step.type === 'bridge' ? [step.from, step.to] : [step.chain])),
  ),
]

export const statuses = ['pending', 'planning', 'executing', 'completed', 'failed'] as const
export type LifecycleStatus = (typeof statuses)[number]

const rank: Record<LifecycleStatus, number> = {
  pending: 0,
  planning: 1,
  executing: 2,
  completed: 3,
  failed: 3,
}

export const isTerminal = (status: LifecycleStatus) => rank[status] === 3

/**
 * An amount of money and its place: the wallet, the market of a protocol, or the `bridge` between two chains. `amount`
 * is decimal text in whole tokens.
 */
export type LocatedFunds = { chain: string; asset: string; amount: string; protocol?: string }

/**
 * Why an intent failed: a published code, the step, and where the money is. `recovery` reports burned money that arrived
 * after the failure.
 */
export type IntentFailure = {
  code: FailureCode
  message: string
  step?: number
  funds?: LocatedFunds[]
  recovery?: { txHash: string; chain: string; asset: string; amount: string; at: string }
}

/** Why an intent is late without a failure, since when (ISO 8601), and where the money is. */
export type IntentDelay = {
  code: 'BRIDGE_TIMEOUT'
  since: string
  message: string
  funds: LocatedFunds[]
}

/** Progress of a running workflow, the result of its query `progress`. `waitingFor`: why a step takes longer than a minute. */
export type Progress = {
  status: LifecycleStatus
  completedSteps: number
  currentStep?: number
  waitingFor?: { code: WaitingCode; since: string }
}

/** The kind of the operation that completes a step. A bridge step completes with its mint. */
export const lastKind = ({ type }: PlanStep): OperationKind => (type === 'bridge' ? 'mint' : type)

/**
 * The step whose output a step spends. Undefined when it spends money that existed before. A withdrawal spends a
 * position in its market.
 */
export function sourceStepOf(plan: StepPlan, step: PlanStep): PlanStep | undefined {
  if (step.type === 'withdraw') return undefined
  const before = plan.steps.find(({ sequence }) => sequence === step.sequence - 1)
  return before && before.type !== 'deposit' ? before : undefined
}

/** Expected base units from the withdrawals of a plan, after the swaps that follow them. */
export function plannedWithdrawal({ steps }: StepPlan): bigint {
  const delivered = steps.map((step, i) => {
    if (step.type === 'swap') return step.arrives
    return step.type === 'withdraw' && steps[i + 1]?.type !== 'swap' ? step.amount : undefined
  })
  return delivered.reduce((sum, amount) => sum + (amount ? assetUnits(amount) : 0n), 0n)
}

/** The later of two statuses of one intent, so that a reader never sees it go backwards. */
export function laterStatus(a: LifecycleStatus, b: LifecycleStatus): LifecycleStatus {
  return rank[b] > rank[a] ? b : a
}
