import type { Client } from '@temporalio/client'
import type { Chains } from '../../chains/connect.js'
import type { Registry } from '../../chains/registry.js'
import type { Db } from '../../db/connection/connect.js'
import type { PriceLimits } from '../../domain/limits.js'
import type { FundingLimits } from '../../domain/funding.js'
import type { Prober } from '../../probe/watch.js'
import type { RequestLog } from './requestLog.js'
import type { Shield } from './shield.js'
import type { Log } from '../../log.js'
import type { ReadProgress } from '../../temporal/progress.js'

/** What the routes work with. Wired once in `main.ts`, or in a test. */
export type Services = {
  db: Db
  chains: Chains
  registry: Registry
  /** What money may cost on its way; absent: the usual. */
  limits?: PriceLimits
  /** What is known to be broken. */
  prober: Prober
  temporal: Client
  readProgress: ReadProgress
  /** How much test money a day may bring. */
  fundingLimits: FundingLimits
  /** Counts requests without a valid key. */
  shield: Shield
  /** Keeps what callers have asked; absent: nothing is kept. */
  requestLog?: RequestLog
  log: Log
}
