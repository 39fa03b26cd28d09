import { z } from 'zod'
import { fromUnits } from './money.js'

/** Text that Postgres and UTF-8 can hold: no NUL, no lone surrogates. */
export const safeText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), 'has invalid characters')

export const actions = ['lend', 'withdraw', 'bridge'] as const
export type Action = (typeof actions)[number]

/** What every action takes. The amount is in whole tokens: a JSON number, or decimal text. */
const anyAction = {
  walletId: safeText(64).meta({ description: 'Id of the wallet.' }),
  amount: z.union([z.number(), z.string().max(80)], 'must be a number or decimal text').meta({
    description: 'In whole tokens: a JSON number, or decimal text for more than 15 digits.',
    examples: [1, '0.5'],
    override: {
      anyOf: [
        { type: 'number', exclusiveMinimum: 0 },
        { type: 'string', maxLength: 80, pattern: String.raw`^(0|[1-9]\d*)(\.\d+)?$` },
      ],
    },
  }),
  asset: z.literal('USDC', 'must be `USDC`').default('USDC'),
}
const chainName = safeText(32).meta({
  description: 'Name of a chain. Mainnet-style names such as `arbitrum` are aliases.',
  examples: ['arbitrum-sepolia'],
})

/** Body of `POST /v1/intents`: each action has its own fields and takes no others. */
export const intentBody = z.discriminatedUnion(
  'action',
  [
    z.strictObject({ ...anyAction, action: z.literal('lend'), chain: chainName.optional() }).meta({
      id: 'LendRequest',
      description: 'Lends, where it pays most unless `chain` is named.',
    }),
    z
      .strictObject({ ...anyAction, action: z.literal('withdraw'), chain: chainName })
      .meta({ id: 'WithdrawRequest', description: 'Takes back what was lent on `chain`.' }),
    z
      .strictObject({
        ...anyAction,
        action: z.literal('bridge'),
        fromChain: chainName,
        toChain: chainName,
      })
      .meta({ id: 'BridgeRequest', description: 'Moves money from one chain to another.' }),
  ],
  {
    error: ({ code }) =>
      code === 'invalid_union' ? 'must be `lend`, `withdraw` or `bridge`' : undefined,
  },
)
export type IntentBody = z.infer<typeof intentBody>

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
}

/** Where a step spends its money. */
export const spendingChain = (step: Step) => (step.type === 'bridge' ? step.from : step.chain)

export type IntentStatus = 'pending' | 'planning' | 'executing' | 'completed' | 'failed'

const rank: Record<IntentStatus, number> = {
  pending: 0,
  planning: 1,
  executing: 2,
  completed: 3,
  failed: 3,
}

export const isTerminal = (status: IntentStatus) => rank[status] === 3

/**
 * Money and where it lies: `amount` is decimal text in whole tokens, `protocol` says where it is lent.
 */
export type Funds = { chain: string; protocol?: string; asset: string; amount: string }

/** Why an intent failed: `code` of the error catalog, the step, and where the money is. */
export type IntentError = { code: string; message: string; step?: number; funds?: Funds[] }

/** How far a running workflow is, as its `progress` query tells. */
export type Progress = { status: IntentStatus; completedSteps: number; waitingFor?: string }

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
}

export type Results = {
  completedSteps: number
  transactions: {
    type: string
    txHash: string
    chain: string
    gasUsed: string
    gasCostUsd: number
  }[]
  totalGasUsed: string
  totalGasCostUsd: number
  /** Decimal text of what the last step moved, and the APY in percent; both once all steps are done. */
  finalAmount?: string
  apy?: number
}

/** What the effects of an intent add up to. A step is completed when its effect is confirmed. */
export function resultsOf(plan: ExecutionPlan, effects: Effect[], decimals: number): Results {
  const done = effects.filter((effect) => effect.confirmed && effect.success)
  const completedSteps = new Set(done.map((effect) => effect.sequence)).size
  const microUsd = effects.reduce((sum, effect) => sum + Math.round(effect.gasCostUsd * 1e6), 0)
  const last = done.find((effect) => effect.sequence === plan.steps.length)
  return {
    completedSteps,
    transactions: effects.map((effect) => ({
      type: effect.kind,
      txHash: effect.txHash,
      chain: effect.chain,
      gasUsed: effect.gasUsed.toString(),
      gasCostUsd: effect.gasCostUsd,
    })),
    totalGasUsed: effects.reduce((sum, effect) => sum + effect.gasUsed, 0n).toString(),
    totalGasCostUsd: microUsd / 1e6,
    ...(completedSteps === plan.steps.length && last?.units !== undefined
      ? { finalAmount: fromUnits(last.units, decimals), apy: plan.expectedApy }
      : {}),
  }
}

/** The later of two states of one intent, so that a reader never sees it run backwards. */
export function laterStatus(a: IntentStatus, b: IntentStatus): IntentStatus {
  return rank[b] > rank[a] ? b : a
}
