import type { Amount } from '../amounts.js'
import type { Known } from '../known.js'
import type { Metadata } from '../metadata.js'

export type IntentStatus = Known<'pending' | 'planning' | 'executing' | 'completed' | 'failed'>
export type Action = Known<'lend' | 'withdraw' | 'bridge'>
export type FollowUp = Known<'cancel' | 'retry'>
export type StepStatus = Known<
  'pending' | 'waiting' | 'executing' | 'completed' | 'failed' | 'cancelled'
>

export type IntentFailureCode = Known<
  | 'BRIDGE_FAILED'
  | 'BRIDGE_TIMEOUT'
  | 'SWAP_FAILED'
  | 'WITHDRAW_FAILED'
  | 'DEPOSIT_FAILED'
  | 'NETWORK_ERROR'
  | 'RPC_ERROR'
  | 'INTERNAL'
  | 'CANCELLED'
  | 'INSUFFICIENT_FUNDS'
  | 'INVALID_REQUEST'
>

export type WaitingCode = Known<
  | 'SERVICE'
  | 'SIGNER'
  | 'SENDER_GAS'
  | 'GAS_PRICE'
  | 'PAUSED'
  | 'FROZEN'
  | 'CHAIN_SILENT'
  | 'INDEXING'
  | 'MARKET_ROOM'
  | 'PRICE'
  | 'DAILY_LIMIT'
  | 'REFUSED'
  | 'RESENDING'
  | 'MINING'
  | 'CONFIRMATIONS'
  | 'ATTESTATION'
>

/** Why an intent waits. Nothing has failed. `usualSeconds`: the usual maximum duration, when known. */
export type WaitingFor = {
  code: WaitingCode
  message: string
  since: string
  usualSeconds?: number
}

/** Money in one place. `chain`: a chain or `bridge`. `protocol`: the lending protocol. `amount`: decimal text. */
export type Funds = { chain: string; asset: string; amount: string; protocol?: string }

/** A part of a bridge step. */
export type StepPart = {
  type: Known<'burn' | 'attestation' | 'mint'>
  status: StepStatus
  chain: string
  startedAt?: string
  endedAt?: string
  txHash?: string
}

/** One step of a plan. Amounts are whole tokens as decimal text. */
export type Step = {
  type: Known<'bridge' | 'deposit' | 'withdraw' | 'swap'>
  /** Starts at 1. */
  sequence: number
  /** Source and destination chain of a bridge. */
  from?: string
  to?: string
  fromAlias?: string
  toAlias?: string
  /** Chain of every other step. */
  chain?: string
  alias?: string
  protocol?: string
  asset: string
  amount: string
  speed?: Known<'fast' | 'standard'>
  maxFee?: string
  toAsset?: string
  arrives?: string
  minimum?: string
  status?: StepStatus
  startedAt?: string
  endedAt?: string
  txHash?: string
  waitingFor?: WaitingFor
  operations?: StepPart[]
}

export type PlanWarning = {
  code: Known<
    'NOT_WORTH_IT' | 'ASSET_CHANGES' | 'MARKET_NEARLY_FULL' | 'LOW_LIQUIDITY' | 'COSTS_UNKNOWN'
  >
  message: string
}

/** A market that was not chosen. `netUsd`: earnings of a year minus the costs to get there. */
export type PlanAlternative = {
  chain: string
  alias: string
  protocol: string
  asset: string
  apy: number
  netUsd?: number
  why: string
}

export type ExecutionPlan = {
  strategy: Known<'direct-deposit' | 'single-bridge' | 'direct-withdraw' | 'direct-bridge'>
  targetChain: string
  targetAlias: string
  targetProtocol?: string
  expectedApy?: number
  steps: Step[]
  /** Null while the price of ETH is unknown. */
  estimatedGasUsd: number | null
  estimatedTime: string
  reasoning: string
  warnings?: PlanWarning[]
  alternatives?: PlanAlternative[]
}

/** One operation on a chain. */
export type Transaction = {
  type: string
  step?: number
  txHash: string
  chain: string
  blockNumber?: number
  timestamp?: string
  explorerUrl?: string
  gasUsed: string
  /** Null when the price of ETH was unknown. */
  gasCostUsd: number | null
  /** The call reverted and moved no money. */
  failed?: true
}

export type Results = {
  completedSteps: number
  transactions: Transaction[]
  totalGasUsed: string
  /** Null when one of the costs is. */
  totalGasCostUsd: number | null
  finalAmount?: string
  apy?: number
}

/** Why an intent is late, and where its money is. */
export type Delay = {
  code: Known<'BRIDGE_TIMEOUT'>
  since: string
  message: string
  funds: Funds[]
}

export type IntentError = {
  code: IntentFailureCode
  message: string
  step?: number
  /** Where the money is now. */
  funds?: Funds[]
  /** Money that left the bridge after the intent had failed. */
  recovery?: { txHash: string; chain: string; asset: string; amount: string; at: string }
}

/** A goal that the service plans and executes. */
export type Intent = {
  id: string
  status: IntentStatus
  walletId: string
  /** The user of the wallet, by your own identifier. */
  userId?: string
  action: Action
  /** A JSON number: exact up to 15 digits. `executionPlan.steps` and `funds` have decimal text. */
  amount: number
  asset: string
  chain?: string
  fromChain?: string
  toChain?: string
  metadata?: Metadata
  retryOf?: string
  retriedBy?: string
  executionPlan?: ExecutionPlan
  currentStep?: number
  waitingFor?: WaitingFor
  results?: Results
  /** Where the money is now. */
  funds?: Funds[]
  delay?: Delay
  error?: IntentError
  /** What the caller can do with the intent now. */
  actions: FollowUp[]
  /** When `retry` becomes possible. Present while a reorg could still revert the failure. */
  retryFrom?: string
  /** The request that created it. */
  requestId?: string
  createdAt: string
  updatedAt?: string
  completedAt?: string
  cancelledAt?: string
  endedAt?: string
}

/** The plan of an intent. Nothing is stored. */
export type DryRun = {
  dryRun: true
  walletId: string
  action: Action
  amount: number
  asset: string
  executionPlan: ExecutionPlan
}

type AnyParams = { walletId: string; asset?: 'USDC' | undefined; metadata?: Metadata | undefined }

/** Without `chain` the intent lends at the best rate. `optimize: 'net'` includes the costs to get there. */
export type LendParams = AnyParams & {
  amount: Amount
  chain?: string | undefined
  optimize?: 'apy' | 'net' | undefined
  horizonDays?: number | undefined
}
/** `amount: 'max'` withdraws everything, including interest. */
export type WithdrawParams = AnyParams & { amount: Amount; chain: string }
export type BridgeParams = AnyParams & { amount: Amount; fromChain: string; toChain: string }

export type CreateIntentParams =
  | ({ action: 'lend' } & LendParams)
  | ({ action: 'withdraw' } & WithdrawParams)
  | ({ action: 'bridge' } & BridgeParams)
