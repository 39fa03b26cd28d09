import type { Client } from '@temporalio/client'
import type { Chains } from '../../chains/connect.js'
import type { Registry } from '../../chains/registry.js'
import type { Db } from '../../db/connection/connect.js'
import type { PriceLimits } from '../../domain/limits.js'
import type { FundingLimits } from '../../domain/funding.js'
import type { Passwords } from './auth/passwords.js'
import type { Prober } from '../../probe/watch.js'
import type { RequestLog } from './requestLog.js'
import type { Shield } from './auth/shield.js'
import type { Streams } from './streaming/stream.js'
import type { Guard } from '../../webhooks/address.js'
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
  /** The files of the dashboard; absent: where `npm run build` puts them. */
  dashboardFolder?: string
  /** Milliseconds after which a request is answered with 503; absent: the usual. */
  answerMs?: number
  /** Milliseconds that a new intent waits for its money to be booked, at most; absent: the usual. */
  bookingWaitMs?: number
  /** Who is told events as they happen. */
  streams: Streams
  /** Keeps what callers have asked; absent: nothing is kept. */
  requestLog?: RequestLog
  log: Log
  dashboard: Dashboard
  /** Where events may be sent; absent: as the network of the registry has it. */
  guard?: Guard
}

/** What only the dashboard needs. */
export type Dashboard = {
  passwords: Passwords
  /** Where browsers find the service; absent: wherever a request came to. */
  publicUrl?: string | undefined
  /** How many proxies of ours a request passes, each of which tells in X-Forwarded-For whom it has heard. */
  trustedProxies?: number | undefined
  /** Where operators find the UI of Temporal. */
  temporalUi?: string | undefined
}
