import { connectAsLeader } from '../../db/client/connect.js'
import { findOpenBurns } from '../../operations/burns.js'
import { watchQueue } from '../../operations/queue.js'
import { MINUTE_MS, REQUEST_TIMEOUT_MS } from '../../runtime/durations.js'
import { attestBurns } from './attestBurn.js'
import { logFailure, usualDelays, type AttesterTools } from './attesterTools.js'
import { groupByTransaction, needOf, delayOf, scheduleOf } from './burnSchedule.js'
import { watchContractBlocks } from '../contractBlocks.js'
import { storeFees } from '../fees.js'
import { delay, repeat } from '../repeat.js'
import { atMost } from '../../runtime/timeout.js'
import type { Chains } from '../../evm/connect.js'
import type { Listener } from '../../db/client/listen.js'
import type { PartLog } from '../../runtime/log.js'
import type { Attestations } from '../../evm/bridges/bridge.js'

/** Shortest delay between two checks of the schedules. With 8 requests each it exceeds the rate limit already. */
const CHECK_MS = 50
/** Bounds the concurrent requests to a service that hangs. Each ends with the request timeout. */
const MOST_REQUESTS = 8

/** `url`: the database without a pooler in between. `delays`: for tests. */
export type Attesting = {
  url: string
  attestations: Attestations
  chains: Chains
  listener: Listener
  log: PartLog
  delays?: typeof usualDelays
}

/**
 * Until the signal aborts, requests the attestation of every burn until it is stored, a new one when it expires before
 * the mint, and the bridge's fees. It never gives a burn up. One process leads at a time, so that all requests to the
 * service share one rate limit.
 */
export async function runAttester(attesting: Attesting, stopping: AbortSignal): Promise<void> {
  const { url, listener, attestations, chains, log, delays = usualDelays } = attesting
  const { lookMs, retryMs } = delays
  const db = connectAsLeader(url, 'attester')
  const contractBlock = watchContractBlocks(chains, lookMs)
  const known = { schedules: new Map(), underWay: new Map(), complaint: undefined }
  const tools: AttesterTools = { attestations, chains, log, delays, db, contractBlock, ...known }
  const confirmed = watchQueue(listener, stopping, ['confirmed'])
  const requestNext = async () => {
    // Subscribes before reading, so that no notification is missed.
    const news = confirmed(lookMs)
    await requestDue(tools)
    await atMost(news, untilDue(tools))
  }
  const readFees = async () => {
    await delay(await keepFees(tools), stopping)
  }
  const onFailure = (error: unknown) => {
    logFailure(tools, error)
  }
  try {
    await Promise.all([
      repeat(requestNext, onFailure, { stopping, retryMs }),
      repeat(readFees, onFailure, { stopping, retryMs }),
    ])
    await Promise.all(tools.underWay.values())
  } finally {
    await db.destroy()
  }
}

/** Milliseconds until a request is due and the rate limit allows it, at most `lookMs`. */
function untilDue({ schedules, attestations, delays: { lookMs } }: AttesterTools): number {
  const next = Math.min(...[...schedules.values()].map(({ nextAt }) => nextAt))
  return Math.min(Math.max(next - Date.now(), attestations.restMs(), CHECK_MS), lookMs)
}

/** Starts the requests that are due, within the bound of concurrent requests and the rate limit. */
async function requestDue(tools: AttesterTools): Promise<void> {
  const { db, schedules, underWay, attestations } = tools
  const transactions = groupByTransaction(await findOpenBurns(db))
  for (const key of schedules.keys()) if (!transactions.has(key)) schedules.delete(key)
  const due = [...transactions]
    .map(([key, burns]) => ({ key, burns, schedule: scheduleOf(tools, key, burns) }))
    .filter(({ key, schedule }) => schedule.nextAt <= Date.now() && !underWay.has(key))
    .sort((a, b) => a.schedule.nextAt - b.schedule.nextAt)
  for (const { key, burns, schedule } of due) {
    // A short rest is spent inside the request. During a longer one the service gets no requests.
    if (underWay.size >= MOST_REQUESTS || attestations.restMs() >= CHECK_MS) return
    const [first, ...others] = burns.flatMap((burn) => needOf(tools, burn))
    if (first?.hasExpired || others.some(({ hasExpired }) => hasExpired)) schedule.renewals += 1
    const delays = burns.map((burn) => delayOf(tools, burn, schedule.renewals))
    schedule.nextAt = Date.now() + Math.min(...delays)
    if (!first) continue
    const request = attestBurns(tools, key, [first, ...others])
    underWay.set(
      key,
      request.finally(() => underWay.delete(key)),
    )
  }
}

/** @returns Milliseconds until the fees are read again: sooner after a failure. */
async function keepFees(tools: AttesterTools): Promise<number> {
  // Throws in a process that does not lead, which must not send requests to the service.
  await tools.db.raw('select 1')
  const failures = await storeFees(tools.db, tools.attestations, tools.chains)
  for (const error of failures) logFailure(tools, error)
  return failures.length === 0 ? MINUTE_MS : REQUEST_TIMEOUT_MS
}
