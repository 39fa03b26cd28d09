import type { z } from 'zod'
import type { dryRun, intent } from '../../../api/schemas/intents.js'
import type {
  balances,
  creditAccount,
  funding,
  positions,
  wallet,
  yields,
  yieldSnapshot,
} from '../../../api/schemas/resources.js'

/** Answers of the API, as the server's schemas have them: nothing here is said twice. */
type WaitingFor = { code: string; message: string; since: string; usualSeconds?: number }
type Part = {
  type: 'burn' | 'attestation' | 'mint'
  status: StepStatus
  chain: string
  startedAt?: string
  endedAt?: string
  txHash?: string
}
type StepStatus = 'pending' | 'waiting' | 'executing' | 'completed' | 'failed' | 'cancelled'
type BaseIntent = z.infer<typeof intent>
type BasePlan = NonNullable<BaseIntent['executionPlan']>
type BaseResults = NonNullable<BaseIntent['results']>
export type Step = BasePlan['steps'][number] & {
  status?: StepStatus
  startedAt?: string
  endedAt?: string
  txHash?: string
  waitingFor?: WaitingFor
  operations?: Part[]
}
export type ExecutionPlan = Omit<BasePlan, 'steps'> & {
  steps: Step[]
  warnings?: { code: string; message: string }[]
}
export type Transaction = BaseResults['transactions'][number] & {
  step?: number
  explorerUrl?: string
}
export type Intent = Omit<BaseIntent, 'executionPlan' | 'results'> & {
  executionPlan?: ExecutionPlan
  results?: Omit<BaseResults, 'transactions'> & { transactions: Transaction[] }
  currentStep?: number
  waitingFor?: WaitingFor
  retriedBy?: string
  funds?: Funds
}
export type DryRun = Omit<z.infer<typeof dryRun>, 'executionPlan'> & {
  executionPlan: ExecutionPlan
}
export type Funds = NonNullable<NonNullable<BaseIntent['error']>['funds']>
export type Wallet = z.infer<typeof wallet>
export type Balances = z.infer<typeof balances>
export type Positions = z.infer<typeof positions>
export type Yields = z.infer<typeof yields>
export type YieldSnapshot = z.infer<typeof yieldSnapshot>
export type Funding = z.infer<typeof funding>
export type Credits = z.infer<typeof creditAccount>

export type Page<T> = { data: T[]; nextCursor: string | null }

export type Role = 'owner' | 'developer' | 'viewer'
/** Who is signed in, and where. */
export type Session = {
  user: { id: string; email: string; name: string; isOperator: boolean }
  account: { id: string; name: string; plan: string }
  role: Role
  network: string
  environment: 'devnet' | 'testnet' | 'mainnet'
  temporalUi?: string
}
export type Invitation = {
  account: { name: string }
  role: Role
  email: string | null
  isKnown: boolean
  expiresAt: string
}
export type SessionEntry = {
  id: string
  isCurrent: boolean
  agent: string
  address: string
  createdAt: string
  lastSeenAt: string
  expiresAt: string
}
export type MemberEntry = { id: string; email: string; name: string; role: Role; createdAt: string }
export type InviteAnswer = { id: string; url: string; email: string; role: Role; expiresAt: string }
export type KeyEntry = {
  id: string
  name: string
  prefix: string
  lastFour: string
  scopes: ('read' | 'write')[]
  createdAt: string
  lastUsedAt: string | null
  expiresAt: string | null
  revokedAt: string | null
}
export type NewKeyAnswer = KeyEntry & { key: string }
