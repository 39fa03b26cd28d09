import type { AuditedOperation, MissingOperation } from '../db/audit/operations.js'
import type { EventLog } from '../chains/read.js'

/** What is compared, by the name under which a difference of it is told. */
export type Check =
  | 'credits'
  | 'edges'
  | 'ends'
  | 'funds'
  | 'money'
  | 'booking'
  | 'operations'
  | 'transactions'
  | 'lanes'
  | 'strangers'
  | 'workflows'
  | 'ages'

/** What certainly mends a difference. Each is one transaction, and harmless when it is repeated. */
export type Repair =
  /** The operation has its log in a block that was booked without it. */
  | { type: 'book'; operation: AuditedOperation; log: EventLog }
  /** The operation was executed and its row is gone: written again, it meets the key that it has spent. */
  | { type: 'order'; operation: MissingOperation }
  /** The chain has no log of the operation, and its key is not spent. */
  | { type: 'takeBack'; operation: AuditedOperation }
  /** The lane has used these nonces, `from` up to and without `to`, and they are final. */
  | { type: 'moveLane'; chainId: number; sender: string; from: bigint; to: bigint }
  /** The rows do not bear the end of the intent any more. */
  | { type: 'reconsider'; intentId: string }
  /** The intent is not over, and nothing works on it. */
  | { type: 'restart'; intentId: string }

/** Rows, chain and workflows say different things, in plain words. */
export type Difference = {
  check: Check
  /** What it is about: `intent intent_…`, `lane 0x… on base-sepolia`. */
  about: string
  row: string
  chain: string
  mend: string
  repair?: Repair
}
