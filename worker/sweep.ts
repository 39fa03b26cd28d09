import { setTimeout as sleep } from 'node:timers/promises'
import { HOUR_MS, MINUTE_MS } from '../runtime/durations.js'
import {
  findDone,
  findLingering,
  findReopened,
  readStartables,
  type Reopened,
} from '../db/intents/sweeping.js'
import { keepEvents } from '../db/intents/events.js'
import { connectAsLeader, isLedElsewhere, type Db } from '../db/client/connect.js'
import { completeWhenDone, setDispatched } from '../db/intents/status.js'
import { keepRequestPartitions } from '../db/usage/requests.js'
import { listRunning } from '../workflows/client/running.js'
import {
  again,
  factsOf,
  startReopened,
  startWorkflow,
  workOf,
  type Start,
  type Starter,
} from '../workflows/client/start.js'
import { prunes, type Prune } from './prunes.js'
import { recheckResults } from './recheck.js'
import type { Chains } from '../evm/connect.js'
import type { Log } from '../runtime/log.js'
import { signalSettled } from './notify.js'
import type { Presence } from './presence.js'

/** Interval of sweeps that callers wait for. Above the time in which a worker completes an intent itself. */
const SOON_MS = 3_000
/** This sweep joins all awaited operations, up to some thousand rows. */
const SETTLED_EVERY_MS = 15_000

/** Rows per sweep. The queries return them in no fixed order, so that no row starves another one. */
const SOME = 100
const PAGE = 1_000
/** Concurrent workflow starts. */
const STARTS = 10
/** Rows per statement, short because others write to the same tables, and statements per sweep. */
const PRUNED = { rows: 1_000, batches: 100 }

type SweepTools = Starter & {
  db: Db
  chains: Chains
  temporal: Presence
  log: Log
  stopping: AbortSignal
  /** For how many days events are kept. */
  eventsKeptDays: number
}
type Sweep = (tools: SweepTools) => Promise<void>

/**
 * Restarts missing workflows, completes finished intents and deletes expired rows, until the signal aborts. One process
 * sweeps at a time. The others wait for its session to end.
 *
 * @param url - A direct database URL without a pooler, because leadership belongs to a session.
 */
export async function runSweepers(
  { url, ...shared }: Omit<SweepTools, 'db' | 'stopping'> & { url: string },
  stopping: AbortSignal,
): Promise<void> {
  const db = connectAsLeader(url, 'sweeper')
  const tools = { ...shared, db, stopping }
  try {
    await Promise.all([
      // Intents that a reorg reopened. Nothing else restarts their workflows.
      every(SOON_MS, tools, restartReopened),
      // Intents whose worker died. Otherwise they complete only after Temporal's timeouts, or after its outage.
      every(SOON_MS, tools, completeDone),
      // Steps whose signal was lost with its worker. Otherwise they wait for up to an hour longer.
      every(SETTLED_EVERY_MS, tools, signalLeft),
      // Workflows that were terminated, or lost with Temporal's database. Otherwise they never continue.
      every(MINUTE_MS, tools, restartLingering),
      // Results that another endpoint contradicts. Their chain is paused.
      every(MINUTE_MS, tools, recheckResults),
      // Expired rows. They are harmless and only occupy disk.
      every(HOUR_MS, tools, pruneAll),
      // Partitions of events and requests, created days ahead. Inserts without a partition fail.
      every(HOUR_MS, tools, keepPartitions),
    ])
  } finally {
    await db.destroy()
  }
}

async function every(ms: number, tools: SweepTools, sweep: Sweep): Promise<void> {
  const { log, stopping } = tools
  while (!stopping.aborted) {
    await sweep(tools).catch((error: unknown) => {
      if (!isLedElsewhere(error)) log.warn({ err: error }, 'sweep failed')
    })
    await sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** A restart fails while an older run of the intent still exists. The next sweep retries it. */
async function restartReopened(tools: SweepTools): Promise<void> {
  const { db, client, publicUrl, temporal, log } = tools
  await temporal.untilThere()
  const restart = async (reopened: Reopened) => {
    const facts = factsOf(reopened)
    try {
      const isStarted = await startReopened({ client, publicUrl, db }, reopened)
      if (isStarted) log.info(facts, 'workflow of reopened intent started')
    } catch (error) {
      log.warn({ ...facts, err: error }, 'workflow not started')
    }
  }
  await inBatches(await findReopened(db, SOME), tools, restart)
}

async function restartLingering(tools: SweepTools): Promise<void> {
  const { db, client, temporal, log, stopping } = tools
  const restart = async (start: Start) => {
    const facts = factsOf(start)
    try {
      await startWorkflow(tools, start, again)
      await setDispatched(db, workOf(start).id)
      log.info(facts, 'missing workflow restarted')
    } catch (error) {
      log.warn({ ...facts, err: error }, 'workflow not started')
    }
  }
  await temporal.untilThere()
  if (stopping.aborted) return
  const listedAt = Date.now()
  // One full listing, because a filtered query may scan all workflows as well.
  const running = new Set<string>()
  for await (const id of listRunning(client)) running.add(id)
  let page: string[] = []
  do {
    // The listing misses workflows that started after it or within the seconds before it.
    const forMs = MINUTE_MS + Date.now() - listedAt
    page = await findLingering(db, forMs, { after: page.at(-1) ?? '', limit: PAGE })
    const missing = page.filter((id) => !running.has(id))
    await inBatches(await readStartables(db, missing), tools, restart)
  } while (page.length === PAGE && !stopping.aborted)
}

async function completeDone({ db, log }: SweepTools): Promise<void> {
  const ids = await findDone(db, { forMs: SOON_MS, limit: SOME })
  const completed = await Promise.all(ids.map((id) => completeWhenDone(db, id)))
  const intents = completed.filter(Boolean).length
  if (intents > 0) log.info({ intents }, 'intents completed by the sweeper')
}

/** Signals workflows of settled steps that no worker has signalled. */
async function signalLeft(tools: SweepTools): Promise<void> {
  await tools.temporal.untilThere()
  if (!tools.stopping.aborted) await signalSettled(tools, null)
}

async function pruneAll(tools: SweepTools): Promise<void> {
  for (const prune of prunes) await pruneBy(prune, tools)
}

async function pruneBy({ what, prune }: Prune, { db, log, stopping }: SweepTools): Promise<void> {
  let rows = 0
  for (let batch = 0; batch < PRUNED.batches && !stopping.aborted; batch++) {
    const some = await prune(db, PRUNED.rows)
    rows += some
    if (some < PRUNED.rows) break
  }
  if (rows > 0) log.info({ rows }, what)
}

async function keepPartitions({ db, log, eventsKeptDays }: SweepTools): Promise<void> {
  const days = await keepRequestPartitions(db)
  if (days.made + days.dropped > 0) log.info(days, 'partitions of requests kept')
  const months = await keepEvents(db, eventsKeptDays)
  if (months.made + months.dropped > 0) log.info(months, 'partitions of events kept')
}

/** Runs `work` for each item in batches of `STARTS`, while Temporal is available. */
async function inBatches<T>(
  all: T[],
  { temporal, stopping }: SweepTools,
  work: (one: T) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < all.length; at += STARTS) {
    await temporal.untilThere()
    if (stopping.aborted) return
    await Promise.all(all.slice(at, at + STARTS).map(work))
  }
}
