import { setTimeout as sleep } from 'node:timers/promises'
import { HOUR_MS, MINUTE_MS } from '../durations.js'
import type { Client } from '@temporalio/client'
import {
  findDone,
  findLingering,
  findReopened,
  readStartables,
  type Reopened,
} from '../db/intents/sweeping.js'
import { keepEvents } from '../db/intents/events.js'
import { connectAsLeader, isLedElsewhere, type Db } from '../db/connection/connect.js'
import { completeWhenDone, setDispatched } from '../db/intents/status.js'
import { keepRequestPartitions } from '../db/tenants/requests.js'
import { listRunning } from '../temporal/running.js'
import {
  again,
  factsOf,
  startReopened,
  startWorkflow,
  workOf,
  type Start,
} from '../temporal/start.js'
import { prunes, type Prune } from './prunes.js'
import type { Log } from '../log.js'
import { signalSettled } from './notify.js'
import type { Presence } from './presence.js'

/** Pause between two looks for what somebody waits for. A worker completes an intent in less, and is not forestalled. */
const SOON_MS = 3_000
/** A look at what is awaited joins all of it, up to some thousand rows. */
const SETTLED_EVERY_MS = 15_000

/** Rows of a round that are looked at in no order, so that none keeps another one waiting for ever. */
const SOME = 100
const PAGE = 1_000
/** Workflows that are started at the same time. */
const STARTS = 10
/** Short statements, as others write to the same tables; and a round that does not take the machine for itself. */
const PRUNED = { rows: 1_000, batches: 100 }

type Tools = {
  db: Db
  client: Client
  temporal: Presence
  log: Log
  stopping: AbortSignal
  /** For how many days events are kept. */
  eventsKeptDays: number
}
type Sweep = (tools: Tools) => Promise<void>

/**
 * Restarts workflows that should run and do not, completes what is done, and deletes what has expired, until the signal
 * aborts. One process does so at a time; the others wait for its session to end.
 *
 * @param url - The database without a pooler in between: the lead belongs to a session.
 */
export async function runSweepers(
  { url, ...shared }: Omit<Tools, 'db' | 'stopping'> & { url: string },
  stopping: AbortSignal,
): Promise<void> {
  const db = connectAsLeader(url, 'sweeper')
  const tools = { ...shared, db, stopping }
  try {
    await Promise.all([
      // Without it an intent whose end a reorg took back stays open: nothing else starts its workflow again.
      every(SOON_MS, tools, restartReopened),
      // Without it an intent whose worker died ends only when Temporal has noticed, or is back itself.
      every(SOON_MS, tools, completeDone),
      // Without it a step whose signal was lost with its worker waits for up to an hour longer.
      every(SETTLED_EVERY_MS, tools, signalLeft),
      // Without it work whose run was terminated, or lost with Temporal's database, stands still for ever.
      every(MINUTE_MS, tools, restartLingering),
      // Without it expired rows stay: harmless, but they take disk.
      every(HOUR_MS, tools, pruneAll),
      // Without it events and requests of days to come have no partition and are refused. They are made days ahead.
      every(HOUR_MS, tools, keepPartitions),
    ])
  } finally {
    await db.destroy()
  }
}

async function every(ms: number, tools: Tools, sweep: Sweep): Promise<void> {
  const { log, stopping } = tools
  while (!stopping.aborted) {
    await sweep(tools).catch((error: unknown) => {
      if (!isLedElsewhere(error)) log.warn({ err: error }, 'sweep failed')
    })
    await sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** While a run of a reopened intent is there, its restart is tried again in the next round. */
async function restartReopened(tools: Tools): Promise<void> {
  const { db, client, temporal, log } = tools
  await temporal.untilThere()
  const restart = async (reopened: Reopened) => {
    const facts = factsOf(reopened)
    try {
      const isStarted = await startReopened({ temporal: client, db }, reopened)
      if (isStarted) log.info(facts, 'workflow of a reopened intent started')
    } catch (error) {
      log.warn({ ...facts, err: error }, 'workflow not started')
    }
  }
  await inBatches(await findReopened(db, SOME), tools, restart)
}

async function restartLingering(tools: Tools): Promise<void> {
  const { db, client, temporal, log, stopping } = tools
  const restart = async (start: Start) => {
    const facts = factsOf(start)
    try {
      await startWorkflow(client, start, again)
      await setDispatched(db, workOf(start).id)
      log.info(facts, 'workflow started by the sweeper')
    } catch (error) {
      log.warn({ ...facts, err: error }, 'workflow not started')
    }
  }
  await temporal.untilThere()
  if (stopping.aborted) return
  const listedAt = Date.now()
  // All at once: to find a few a server may look through all of them.
  const running = new Set<string>()
  for await (const id of listRunning(client)) running.add(id)
  let page: string[] = []
  do {
    // What was started since the lists were read is not in them, nor some that was started seconds before.
    const forMs = MINUTE_MS + Date.now() - listedAt
    page = await findLingering(db, forMs, { after: page.at(-1) ?? '', limit: PAGE })
    const gone = page.filter((id) => !running.has(id))
    await inBatches(await readStartables(db, gone), tools, restart)
  } while (page.length === PAGE && !stopping.aborted)
}

async function completeDone({ db, log }: Tools): Promise<void> {
  const ids = await findDone(db, { forMs: SOON_MS, limit: SOME })
  const completed = await Promise.all(ids.map((id) => completeWhenDone(db, id)))
  const intents = completed.filter(Boolean).length
  if (intents > 0) log.info({ intents }, 'intents completed in place of their worker')
}

/** Steps that are settled and whose workflows no worker has signalled. */
async function signalLeft(tools: Tools): Promise<void> {
  await tools.temporal.untilThere()
  if (!tools.stopping.aborted) await signalSettled(tools, null)
}

async function pruneAll(tools: Tools): Promise<void> {
  for (const prune of prunes) await pruneBy(prune, tools)
}

async function pruneBy({ what, prune }: Prune, { db, log, stopping }: Tools): Promise<void> {
  let rows = 0
  for (let batch = 0; batch < PRUNED.batches && !stopping.aborted; batch++) {
    const some = await prune(db, PRUNED.rows)
    rows += some
    if (some < PRUNED.rows) break
  }
  if (rows > 0) log.info({ rows }, what)
}

async function keepPartitions({ db, log, eventsKeptDays }: Tools): Promise<void> {
  const days = await keepRequestPartitions(db)
  if (days.made + days.dropped > 0) log.info(days, 'partitions of requests kept')
  const months = await keepEvents(db, eventsKeptDays)
  if (months.made + months.dropped > 0) log.info(months, 'partitions of events kept')
}

/** Does work for each one, a few at a time, while Temporal is there. */
async function inBatches<T>(
  all: T[],
  { temporal, stopping }: Tools,
  work: (one: T) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < all.length; at += STARTS) {
    await temporal.untilThere()
    if (stopping.aborted) return
    await Promise.all(all.slice(at, at + STARTS).map(work))
  }
}
