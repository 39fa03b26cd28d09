import type { Client } from '@temporalio/client'
import type { Chains } from '../../evm/connect.js'
import type { Registry } from '../../evm/registry.js'
import type { Db } from '../../db/client/connect.js'
import type { PlanLimits } from '../../domain/limits.js'
import type { GasBudgets } from '../../domain/tiers.js'
import type { FundingLimits } from '../../domain/intent/funding.js'
import type { Passwords } from './auth/passwords.js'
import type { Prober } from '../../operations/health/watch.js'
import type { RequestLog } from './requestLog.js'
import type { AuthFailureLimiter } from './auth/authFailureLimiter.js'
import type { Streams } from './streaming/stream.js'
import type { Guard } from '../../activities/webhooks/address.js'
import type { Log } from '../../runtime/log.js'
import type { ReadProgress } from '../../workflows/client/progress.js'

/** Dependencies of the routes. Wired in `main.ts`, or in a test. */
export type Services = {
  db: Db
  chains: Chains
  registry: Registry
  /** Upper bounds for swap and bridge costs, and smallest amounts. */
  limits?: PlanLimits
  /** Reports capabilities that are broken. */
  prober: Prober
  temporal: Client
  readProgress: ReadProgress
  /** Gas of intents per account and day. Absent: unlimited. */
  gasBudgets?: GasBudgets
  /** Demo fundings per day. */
  fundingLimits: FundingLimits
  /** Limits requests without a valid key. */
  authFailures: AuthFailureLimiter
  /** Build output of the dashboard. Default: the folder of `npm run build`. */
  dashboardFolder?: string
  /** Milliseconds until the deadline responds with 503. */
  answerMs?: number
  /** Milliseconds that a new intent waits for its money to be indexed, at most. */
  indexingWaitMs?: number
  /** Open event streams. */
  streams: Streams
  /** Absent: requests are not stored. */
  requestLog?: RequestLog
  log: Log
  dashboard: Dashboard
  /** Addresses that webhooks may use. Default: by the network of the registry. */
  guard?: Guard
}

/** Dependencies of the dashboard only. */
export type Dashboard = {
  passwords: Passwords
  /** URL of the service for browsers. Default: the host of each request. */
  publicUrl?: string | undefined
  /** Number of trusted proxies in front of the API. Each appends the address of its client to X-Forwarded-For. */
  trustedProxies?: number | undefined
  /** URL of the Temporal UI, for operators. */
  temporalUi?: string | undefined
}
