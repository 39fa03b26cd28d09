import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { WorkerOptions } from '@temporalio/worker'
import { createDeliveryActivities, type DeliveryTools } from '../activities/deliverWebhook.js'
import { connectAsLeader, isLedElsewhere, type Db } from '../db/connection/connect.js'
import { listenToEvents } from '../db/connection/listen.js'
import {
  dispatchEvents,
  findOverdue,
  findUndispatched,
  setDeliveriesDispatched,
  type DeliveryRun,
} from '../db/webhooks/sending.js'
import { DELIVERY_QUEUE, restartDelivery, startDelivery } from '../temporal/deliveries.js'
import { createBell, type Bell } from '../bell.js'
import { serveTasks } from './serve.js'
import type { Log } from '../log.js'
import type { Presence } from './presence.js'

/** A notification wakes sooner. */
const POLL_MS = 5_000
/** How soon the dispatcher looks again for what an older transaction still holds back. */
const HELD_MS = 100
/** What happens within so many milliseconds is dispatched together. */
const GATHER_MS = 100
const EVENTS_AT_ONCE = 500
const STARTS_AT_ONCE = 60
/** Without it a delivery whose run was terminated, or lost with Temporal's database, is never sent. */
const OVERDUE_EVERY_MS = 60_000
/** Far above the time that a try takes, and the wait for its turn at a busy endpoint. */
const OVERDUE_MS = 600_000

/** Slots of their own: receivers that are slow take none from intents. */
const SLOTS = {
  maxConcurrentWorkflowTaskExecutions: 20,
  maxConcurrentActivityTaskExecutions: 400,
}

export type Deliveries = DeliveryTools & {
  /** The database without a pooler in between: the lead belongs to a session. */
  url: string
  address: string
  client: Client
  temporal: Presence
  /** Of the Temporal worker, besides those of the queue. */
  options: Omit<WorkerOptions, 'taskQueue' | 'activities'>
  log: Log
}

/** Delivers what happens to the endpoints of webhooks, until the signal aborts. */
export async function runDeliveries(
  { url, address, client, temporal, options, log, ...tools }: Deliveries,
  stopping: AbortSignal,
): Promise<void> {
  const db = connectAsLeader(url, 'deliveries')
  const activities = createDeliveryActivities(tools)
  const own = { ...options, ...SLOTS, taskQueue: DELIVERY_QUEUE, activities }
  const told = createBell()
  const made = createBell()
  const dispatching = { db, client, temporal, log, stopping, told, made }
  listenToEvents(url, stopping, told.ring)
  try {
    await Promise.all([
      serveTasks({ address, options: own, temporal, log }, stopping),
      keepDoing('events not dispatched', dispatching, dispatch),
      keepDoing('deliveries not started', dispatching, startUndispatched),
      keepDoing('overdue deliveries not started', dispatching, restartOverdue),
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
  /** Rung when something has happened, and when there are deliveries to start. */
  told: Bell
  made: Bell
}

async function keepDoing(
  failure: string,
  tools: Dispatching,
  turn: (tools: Dispatching) => Promise<void>,
): Promise<void> {
  const { log, stopping } = tools
  while (!stopping.aborted) {
    try {
      await turn(tools)
    } catch (error) {
      if (!isLedElsewhere(error) && !stopping.aborted) log.warn({ err: error }, failure)
      await sleep(POLL_MS, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
}

async function dispatch({ db, told, made, stopping }: Dispatching): Promise<void> {
  const { made: count, isWaiting, isFull, isHeld } = await dispatchEvents(db, EVENTS_AT_ONCE)
  // A delivery that is requested again is announced as events are.
  if (count > 0 || isWaiting) made.ring()
  if (isFull) return
  await told.wait(isHeld ? HELD_MS : POLL_MS, stopping)
  await sleep(GATHER_MS, undefined, { signal: stopping }).catch(() => undefined)
}

async function startUndispatched(tools: Dispatching): Promise<void> {
  const { db, temporal, made, stopping } = tools
  await temporal.untilThere()
  if (stopping.aborted) return
  const found = await findUndispatched(db, STARTS_AT_ONCE)
  const started = await startAll(tools, found, startDelivery)
  if (started < found.length || found.length === 0) await made.wait(POLL_MS, stopping)
}

/** A run that goes on all the same, perhaps on a version without workers, is replaced: its rows say where it was. */
async function restartOverdue(tools: Dispatching): Promise<void> {
  const { db, temporal, stopping } = tools
  await temporal.untilThere()
  if (stopping.aborted) return
  const found = await findOverdue(db, { forMs: OVERDUE_MS, limit: STARTS_AT_ONCE })
  const started = await startAll(tools, found, restartDelivery)
  if (started === STARTS_AT_ONCE) return
  await sleep(OVERDUE_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined)
}

type Startable = DeliveryRun & { accountId: string; webhookId: string }

/** @returns How many were started: the others are tried again. */
async function startAll(
  { db, client, log }: Dispatching,
  runs: Startable[],
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
