import type { AuditedOperation, MissingOperation } from './rows/operations.js'
import type { EventLog } from '../../evm/read.js'

/** The name of a check, as the report shows it. */
export type Check =
  | 'credits'
  | 'edges'
  | 'ends'
  | 'funds'
  | 'money'
  | 'indexing'
  | 'operations'
  | 'transactions'
  | 'senders'
  | 'strangers'
  | 'workflows'
  | 'ages'

/** A repair that is certainly correct. Each one is a single transaction and safe to repeat. */
export type Repair =
  /** The log of the operation is in an indexed block that was indexed without it. */
  | { type: 'index'; operation: AuditedOperation; log: EventLog }
  /** The operation was executed and its row is missing. The recreated row has the same key, which is spent. */
  | { type: 'order'; operation: MissingOperation }
  /** The chain has no log of the operation, and its key is not spent. */
  | { type: 'takeBack'; operation: AuditedOperation }
  /** The sender has used the nonces from `from` to `to - 1`, and they are final. */
  | { type: 'moveSender'; chainId: number; sender: string; from: bigint; to: bigint }
  /** The rows no longer support the final status of the intent. */
  | { type: 'reconsider'; intentId: string }
  /** The intent is open and has no workflow. */
  | { type: 'restart'; intentId: string }

/** A difference between rows, chains and workflows, in the words of the report. */
export type Difference = {
  check: Check
  /** The subject: `intent intent_…`, `sender 0x… on base-sepolia`. */
  about: string
  row: string
  chain: string
  remedy: string
  repair?: Repair
}
