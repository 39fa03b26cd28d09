import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { WorkerOptions } from '@temporalio/worker'
import { createDeliveryActivities, type DeliveryTools } from '../activities/deliverWebhook.js'
import { connectAsLeader, isLedElsewhere, type Db } from '../db/client/connect.js'
import { listenToEvents } from '../db/client/listen.js'
import {
  dispatchEvents,
  findOverdue,
  findUndispatched,
  setDeliveriesDispatched,
  type DeliveryRun,
} from '../db/webhooks/sending.js'
import { DELIVERY_QUEUE, restartDelivery, startDelivery } from '../workflows/client/deliveries.js'
import { createNotifier, type Notifier } from '../runtime/notifier.js'
import { serveTasks } from './serve.js'
import type { Log } from '../runtime/log.js'
import type { Presence } from './presence.js'

/** Fallback for a lost notification. */
const POLL_MS = 5_000
/** Delay before the next query while an older open transaction still hides events. */
const HELD_MS = 100
/** Events within this time share one dispatch. */
const GATHER_MS = 100
const EVENTS_AT_ONCE = 500
const STARTS_AT_ONCE = 60
/** Restarts deliveries whose workflow was terminated, or lost with Temporal's database. */
const OVERDUE_EVERY_MS = 60_000
/** Above the duration of an attempt plus its wait at a busy endpoint. */
const OVERDUE_MS = 600_000

/** Separate slots, so that slow receivers take none from intents. */
const SLOTS = {
  maxConcurrentWorkflowTaskExecutions: 20,
  maxConcurrentActivityTaskExecutions: 400,
}

export type Deliveries = DeliveryTools & {
  /** A direct database URL without a pooler, because leadership belongs to a session. */
  url: string
  address: string
  client: Client
  temporal: Presence
  /** Worker options, without those of the task queue. */
  options: Omit<WorkerOptions, 'taskQueue' | 'activities'>
  log: Log
}

/** Delivers events to webhook endpoints until the signal aborts. */
export async function runDeliveries(
  { url, address, client, temporal, options, log, ...tools }: Deliveries,
  stopping: AbortSignal,
): Promise<void> {
  const db = connectAsLeader(url, 'deliveries')
  const activities = createDeliveryActivities(tools)
  const own = { ...options, ...SLOTS, taskQueue: DELIVERY_QUEUE, activities }
  const emitted = createNotifier()
  const created = createNotifier()
  const dispatching = { db, client, temporal, log, stopping, emitted, created }
  listenToEvents(url, stopping, emitted.notify)
  try {
    await Promise.all([
      serveTasks({ address, options: own, temporal, log }, stopping),
      repeat('events not dispatched', dispatching, dispatch),
      repeat('deliveries not started', dispatching, startUndispatched),
      repeat('overdue deliveries not started', dispatching, restartOverdue),
    ])
  } finally {
    await db.destroy()
  }
}

type Dispatching = {
  db: Db
  client: Client
  temporal: Presence
  log: Log
  stopping: AbortSignal
  /** Notified of new events. */
  emitted: Notifier
  /** Notified of new deliveries to start. */
  created: Notifier
}

async function repeat(
  failure: string,
  tools: Dispatching,
  work: (tools: Dispatching) => Promise<void>,
): Promise<void> {
  const { log, stopping } = tools
  while (!stopping.aborted) {
    try {
      await work(tools)
    } catch (error) {
      if (!isLedElsewhere(error) && !stopping.aborted) log.warn({ err: error }, failure)
      await sleep(POLL_MS, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
}

async function dispatch({ db, emitted, created, stopping }: Dispatching): Promise<void> {
  const { made: count, isWaiting, isFull, isHeld } = await dispatchEvents(db, EVENTS_AT_ONCE)
  // A requested redelivery arrives by the same notification as events.
  if (count > 0 || isWaiting) created.notify()
  if (isFull) return
  await emitted.wait(isHeld ? HELD_MS : POLL_MS, stopping)
  await sleep(GATHER_MS, undefined, { signal: stopping }).catch(() => undefined)
}

async function startUndispatched(tools: Dispatching): Promise<void> {
  const { db, temporal, created, stopping } = tools
  await temporal.untilThere()
  if (stopping.aborted) return
  const found = await findUndispatched(db, STARTS_AT_ONCE)
  const started = await startAll(tools, found, startDelivery)
  if (started < found.length || found.length === 0) await created.wait(POLL_MS, stopping)
}

/** Replaces overdue runs, also running ones: their version may have no workers. The rows hold their progress. */
async function restartOverdue(tools: Dispatching): Promise<void> {
  const { db, temporal, stopping } = tools
  await temporal.untilThere()
  if (stopping.aborted) return
  const found = await findOverdue(db, { forMs: OVERDUE_MS, limit: STARTS_AT_ONCE })
  const started = await startAll(tools, found, restartDelivery)
  if (started === STARTS_AT_ONCE) return
  await sleep(OVERDUE_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined)
}

type UnstartedDelivery = DeliveryRun & { accountId: string; webhookId: string }

/** @returns The number of started runs. The caller retries the others. */
async function startAll(
  { db, client, log }: Dispatching,
  runs: UnstartedDelivery[],
  start: typeof startDelivery,
): Promise<number> {
  const results = await Promise.allSettled(runs.map((run) => start(client, run)))
  const started = runs.filter((_, at) => results[at]?.status === 'fulfilled')
  if (started.length > 0) await setDeliveriesDispatched(db, started)
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) {
    const failed = runs.length - started.length
    log.warn({ err: failure.reason as unknown, failed }, 'deliveries not started')
  }
  return started.length
}
