import type { Chains } from '../../evm/connect.js'
import type { Registry } from '../../evm/registry.js'
import type { Db } from '../../db/client/connect.js'
import type { PartLog } from '../../runtime/log.js'

/** Reads running workflows from Temporal. */
export type Workflows = {
  /** Which of the given ids are running. Takes at most 100. */
  findRunning(ids: string[]): Promise<Set<string>>
  /** The ids of all running workflows. */
  listRunning(): AsyncIterable<string>
}

/** Minimum age of a row to be checked. Younger ones may be in progress: a start or the index of a block takes about 1 s. */
export const SETTLED_AFTER_MS = 60_000

/** The inputs of an audit. */
export type AuditTools = {
  /** A connection with the role of the database owner. */
  db: Db
  chains: Chains
  registry: Registry
  /** Absent: the audit skips workflows. */
  workflows?: Workflows
  log: PartLog
  /** Pause before a difference is checked again, ms. A running process may be about to write the row. */
  againMs: number
  /** Age above which an open row is reported, ms. Absent: a default per kind. */
  olderThanMs?: number
  /** Receives the current check and its progress. */
  progress(text: string): void
}
