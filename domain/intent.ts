import { assetUnits } from './money.js'
import type { FailureCode } from './failures.js'
import type { OperationKind } from './operation.js'
import type { WaitingCode } from './waiting.js'

export const actions = ['lend', 'withdraw', 'bridge'] as const
export type Action = (typeof actions)[number]

/** What the caller wants, checked: amounts in base units, chains by their canonical names. */
export type LendRequest = {
  action: 'lend'
  asset: string
  amountUnits: bigint
  chain?: string
  /** Present: the plan that is worth most after its costs over so many whole days, not the best rate. */
  netOverDays?: number
}
export type WithdrawRequest = {
  action: 'withdraw'
  asset: string
  /** `max`: everything that lies in the chain's markets, interest included. */
  amountUnits: bigint | 'max'
  chain: string
  /** Of a retry: what was taken out of a market before and is still another asset. It is swapped first. */
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
 * What the steps of a plan have in common. `amount` is decimal text in whole tokens of `asset`: what the
 * step spends. After a bridge or a swap it is a forecast; what is spent is what arrived.
 */
type AnyStep = { sequence: number; asset: string; amount: string; protocol: string }

/** Into or out of a market, which is the contract that is called. */
export type DepositStep = AnyStep & { type: 'deposit'; chain: string; market: string }
export type WithdrawStep = AnyStep & {
  type: 'withdraw'
  chain: string
  market: string
  /** Nothing stays behind: whatever the position is worth when it is executed. */
  everything?: true
}
/** `arrives` is the forecast at the destination, `maxFee` the most that the bridge may keep. */
export type BridgeStep = AnyStep & {
  type: 'bridge'
  from: string
  to: string
  speed: BridgeSpeed
  maxFee: string
  arrives: string
}
/** `minimum` of `toAsset` for `amount` of `asset`; less in proportion when less arrived. */
export type SwapStep = AnyStep & {
  type: 'swap'
  chain: string
  toAsset: string
  arrives: string
  minimum: string
}
export type Step = DepositStep | WithdrawStep | BridgeStep | SwapStep
export type BridgeSpeed = 'fast' | 'standard'

export const strategies = [
  'direct-deposit',
  'single-bridge',
  'direct-withdraw',
  'direct-bridge',
] as const

export type ExecutionPlan = {
  strategy: (typeof strategies)[number]
  targetChain: string
  /** Of `lend` and `withdraw`: the market that is paid into, or out of first. */
  targetProtocol?: string
  /** Of `lend`, in percent. */
  expectedApy?: number
  steps: Step[]
  estimatedGasUsd: number
  estimatedTime: string
  reasoning: string
  /** What the caller should know of it before. Absent: nothing. */
  warnings?: PlanWarning[]
  /** What else could have been done, the best first. Absent: nothing that the planner knows of. */
  alternatives?: PlanAlternative[]
}

export const warningCodes = ['NOT_WORTH_IT', 'ASSET_CHANGES', 'MARKET_NEARLY_FULL'] as const
export type PlanWarning = { code: (typeof warningCodes)[number]; message: string }

/**
 * A market that was not chosen. `apy` in percent. `netUsd`: what a year there brings after the way to it, in USD;
 * absent where there is no way. `why` is a sentence.
 */
export type PlanAlternative = {
  chain: string
  protocol: string
  asset: string
  apy: number
  netUsd?: number
  why: string
}

/** Where a step spends its money. */
export const spendingChain = (step: Step) => (step.type === 'bridge' ? step.from : step.chain)

export const statuses = ['pending', 'planning', 'executing', 'completed', 'failed'] as const
export type IntentStatus = (typeof statuses)[number]

const rank: Record<IntentStatus, number> = {
  pending: 0,
  planning: 1,
  executing: 2,
  completed: 3,
  failed: 3,
}

export const isTerminal = (status: IntentStatus) => rank[status] === 3

/**
 * Money and where it lies: in the wallet, or in the market of a protocol. `amount` is decimal text in whole
 * tokens. Between two chains it is in the `bridge`.
 */
export type Funds = { chain: string; asset: string; amount: string; protocol?: string }

/**
 * Why an intent failed: a published code, the step, and where the money is. `recovery` is what
 * was done for the money after that: burned money that came out of the bridge too late.
 */
export type IntentError = {
  code: FailureCode
  message: string
  step?: number
  funds?: Funds[]
  recovery?: { txHash: string; chain: string; asset: string; amount: string; at: string }
}

/** Why an intent is late though nothing has failed, since when (ISO 8601), and where the money is. */
export type Delay = { code: 'BRIDGE_TIMEOUT'; since: string; message: string; funds: Funds[] }

/** How far a running workflow is, as its query `progress` answers. `waitingFor`: why a step takes longer than a minute. */
export type Progress = {
  status: IntentStatus
  completedSteps: number
  currentStep?: number
  waitingFor?: { code: WaitingCode; since: string }
}

/** The kind of operation with which a step is over: burned money has to come out again. */
export const lastKind = ({ type }: Step): OperationKind => (type === 'bridge' ? 'mint' : type)

/**
 * The step whose result a step spends; undefined when it spends what was there before. A withdrawal
 * spends what lies in its market.
 */
export function feederOf(plan: ExecutionPlan, step: Step): Step | undefined {
  if (step.type === 'withdraw') return undefined
  const before = plan.steps.find(({ sequence }) => sequence === step.sequence - 1)
  return before && before.type !== 'deposit' ? before : undefined
}

/** Base units that the withdrawals of a plan are expected to bring, after the swaps that follow them. */
export function plannedWithdrawal({ steps }: ExecutionPlan): bigint {
  const brought = steps.map((step, i) => {
    if (step.type === 'swap') return step.arrives
    return step.type === 'withdraw' && steps[i + 1]?.type !== 'swap' ? step.amount : undefined
  })
  return brought.reduce((sum, amount) => sum + (amount ? assetUnits(amount) : 0n), 0n)
}

/** The later of two states of one intent, so that a reader never sees it run backwards. */
export function laterStatus(a: IntentStatus, b: IntentStatus): IntentStatus {
  return rank[b] > rank[a] ? b : a
}
