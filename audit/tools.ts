import type { Chains } from '../chains/connect.js'
import type { Registry } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'
import type { PartLog } from '../log.js'

/** What runs at Temporal; absent when nobody can ask it. */
export type Workflows = {
  /** Those of the given ids, at most 100, that run. */
  findRunning(ids: string[]): Promise<Set<string>>
  /** The ids of all that run. */
  listRunning(): AsyncIterable<string>
}

/** What is younger may be under way: a start, or a block that is not booked yet. Both take about a second. */
export const SETTLED_AFTER_MS = 60_000

/** What an audit looks at. */
export type AuditTools = {
  /** The owner's connection. */
  db: Db
  chains: Chains
  registry: Registry
  workflows?: Workflows
  log: PartLog
  /** Until what differs is looked at once more, ms: processes that run may have been about to write it. */
  againMs: number
  /** Above this age whatever is open is named, ms; absent: a bound for each kind. */
  olderThanMs?: number
  /** What is being compared, and how far it is. */
  progress(text: string): void
}
