import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { findDone, findLingering, takeLingering, takeReopened } from '../db/intents/sweeping.js'
import { keepEvents } from '../db/intents/events.js'
import { connectAsLeader, isLedElsewhere, type Db } from '../db/connection/connect.js'
import { completeWhenDone, setDispatched } from '../db/intents/status.js'
import { forgetBytes } from '../db/lanes/replacing.js'
import { pruneSignedAmounts } from '../db/lanes/signedAmounts.js'
import { deleteExpiredKeys } from '../db/tenants/idempotency.js'
import { keepRequestPartitions, pruneRequestDays } from '../db/tenants/requests.js'
import { deleteExpiredTokens } from '../db/tenants/readTokens.js'
import { sumLedger } from '../db/tenants/usage.js'
import { deleteOldDeliveries } from '../db/webhooks/sending.js'
import { listRunning } from '../temporal/running.js'
import {
  again,
  factsOf,
  startReopened,
  startWorkflow,
  workOf,
  type Start,
} from '../temporal/start.js'
import type { Log } from '../log.js'
import { signalSettled } from './notify.js'
import type { Presence } from './presence.js'

/** Whoever was told an end that does not hold any more should hear the new one soon. */
const REOPENED_EVERY_MS = 2_000
/** What is confirmed the worker in which it waits completes at once. One that has died is found out by Temporal only later. */
const DONE_EVERY_MS = 3_000
const DONE = { forMs: 3_000, limit: 100 }
/** A worker signals what settles at once. Without this a signal that was lost with its worker costs an hour. */
const SETTLED_EVERY_MS = 15_000
const LINGERING_EVERY_MS = 60_000
/** Far above the time after which a list of Temporal shows what was started. */
const LINGERING_AFTER_MS = 60_000
/** Read together. */
const LINGERING_AT_ONCE = 1_000
/** What has expired is good for nothing and in nobody's way. */
const EXPIRED_EVERY_MS = 3_600_000
/** Short statements: others write to the same tables. */
const EXPIRED_BATCH = 1_000
/** Partitions are made days ahead: whoever could not make one has time. */
const PARTITIONS_EVERY_MS = 3_600_000
/** Far more than an hour brings: what has piled up goes in several rounds, and no round takes the machine for itself. */
const EXPIRED_BATCHES = 100
/** Failures of one round that are told one by one; of the others the number. */
const TOLD = 10

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
 * Starts workflows again that should run and do not, completes what is done, and deletes what is kept no longer, until the
 * signal aborts. One process does so at a time; the others wait for its session to end.
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
      every(REOPENED_EVERY_MS, tools, restartReopened),
      every(DONE_EVERY_MS, tools, completeDone),
      every(SETTLED_EVERY_MS, tools, signalLeft),
      every(LINGERING_EVERY_MS, tools, restartLingering),
      every(EXPIRED_EVERY_MS, tools, deleteKeys),
      every(EXPIRED_EVERY_MS, tools, deleteTokens),
      every(EXPIRED_EVERY_MS, tools, deleteAmounts),
      every(EXPIRED_EVERY_MS, tools, deleteDeliveries),
      every(EXPIRED_EVERY_MS, tools, deleteSums),
      every(EXPIRED_EVERY_MS, tools, forgetFinalBytes),
      every(EXPIRED_EVERY_MS, tools, sumOldEntries),
      every(PARTITIONS_EVERY_MS, tools, keepPartitions),
      every(PARTITIONS_EVERY_MS, tools, keepEventParts),
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

/** Intents whose end does not hold any more. While a run of one is there, it is tried again later. */
async function restartReopened(tools: Tools): Promise<void> {
  const { db, client, temporal, log, stopping } = tools
  await temporal.untilThere()
  while (!stopping.aborted) {
    const reopened = await takeReopened(db)
    if (reopened.length === 0) return
    await Promise.all(
      reopened.map(async (one) => {
        const facts = { intent: one.intent.id }
        try {
          const isStarted = await startReopened({ temporal: client, db }, one)
          if (isStarted) log.info(facts, 'workflow of a reopened intent started')
        } catch (error) {
          log.warn({ ...facts, err: error }, 'workflow not started')
        }
      }),
    )
  }
}

/** Work whose run was terminated, or lost with Temporal's database: the rows say where to go on. */
async function restartLingering(tools: Tools): Promise<void> {
  const { db, client, temporal, stopping } = tools
  await temporal.untilThere()
  if (stopping.aborted) return
  const begun = Date.now()
  // What was started since the lists were read is not in them.
  const ageMs = () => LINGERING_AFTER_MS + Date.now() - begun
  const pageAfter = (after: string, limit = LINGERING_AT_ONCE) =>
    findLingering(db, ageMs(), { after, limit })
  if ((await pageAfter('', 1)).length === 0) return
  // All at once: to find a few a server may look through all of them. What ends from now on is over by its row, too.
  const running = new Set<string>()
  for await (const id of listRunning(client)) running.add(id)
  let page: string[]
  let after = ''
  do {
    page = await pageAfter(after)
    after = page.at(-1) ?? after
    const gone = page.filter((id) => !running.has(id))
    if (gone.length > 0) await startAll(tools, () => takeLingering(db, ageMs(), gone))
  } while (page.length === LINGERING_AT_ONCE && !stopping.aborted)
}

/** Intents whose money has moved: nobody waits for the end of one until Temporal misses its worker, or is back itself. */
async function completeDone({ db, log }: Tools): Promise<void> {
  const ids = await findDone(db, DONE)
  const completed = await Promise.all(ids.map((id) => completeWhenDone(db, id)))
  const intents = completed.filter(Boolean).length
  if (intents > 0) log.info({ intents }, 'intents completed in place of their worker')
}

/** Steps that are settled and whose workflows no worker has signalled. */
async function signalLeft(tools: Tools): Promise<void> {
  await tools.temporal.untilThere()
  if (!tools.stopping.aborted) await signalSettled(tools, null)
}

/** Idempotency keys whose time is over. */
const deleteKeys: Sweep = (tools) =>
  deleteExpired(tools, 'expired idempotency keys deleted', deleteExpiredKeys)

/** Read tokens whose time is over. */
const deleteTokens: Sweep = (tools) =>
  deleteExpired(tools, 'expired read tokens deleted', deleteExpiredTokens)

/** Amounts that were signed too long ago to count towards a daily limit. */
const deleteAmounts: Sweep = (tools) =>
  deleteExpired(tools, 'signed amounts that count no more deleted', pruneSignedAmounts)

/** Deliveries that are over and kept no longer. */
const deleteDeliveries: Sweep = (tools) =>
  deleteExpired(tools, 'old deliveries of webhooks deleted', deleteOldDeliveries)

/** Sums of requests of days that no chart reaches any more. */
const deleteSums: Sweep = (tools) =>
  deleteExpired(tools, 'sums of old days deleted', pruneRequestDays)

/** Bytes of transactions that nobody sends again. */
const forgetFinalBytes: Sweep = (tools) =>
  deleteExpired(tools, 'bytes of final transactions forgotten', forgetBytes)

/** Charges and refunds of months long ago. */
const sumOldEntries: Sweep = (tools) =>
  deleteExpired(tools, 'old entries of the ledger summed', sumLedger)

async function deleteExpired(
  { db, log, stopping }: Tools,
  told: string,
  deleteSome: (db: Db, limit: number) => Promise<number>,
): Promise<void> {
  let deleted = 0
  for (let batch = 0; batch < EXPIRED_BATCHES && !stopping.aborted; batch++) {
    const some = await deleteSome(db, EXPIRED_BATCH)
    deleted += some
    if (some < EXPIRED_BATCH) break
  }
  if (deleted > 0) log.info({ deleted }, told)
}

/** The request log has a partition for each of the next days, and none for those that are kept no longer. */
async function keepPartitions({ db, log }: Tools): Promise<void> {
  const { made, indexed, dropped } = await keepRequestPartitions(db)
  if (made + indexed + dropped > 0) {
    log.info({ made, indexed, dropped }, 'days of the request log made, indexed and dropped')
  }
}

/** Events have a partition for each of the next months, and none for those that are kept no longer. */
async function keepEventParts({ db, log, eventsKeptDays }: Tools): Promise<void> {
  const { made, dropped } = await keepEvents(db, eventsKeptDays)
  if (made + dropped > 0) log.info({ made, dropped }, 'months of events made and dropped')
}

/**
 * Starts the workflows of what is taken until nothing is left. One that cannot be started does not keep the others
 * from it; when it is Temporal that has gone, the rest waits.
 */
async function startAll(tools: Tools, take: () => Promise<Start[]>): Promise<void> {
  const { temporal, log, stopping } = tools
  let failed = 0
  for (;;) {
    await temporal.untilThere()
    if (stopping.aborted) return
    const starts = await take()
    if (starts.length === 0) break
    const results = await Promise.all(starts.map((start) => attempt(start, tools)))
    const failures = results.filter((failure) => failure !== undefined)
    for (const failure of failures) {
      if (++failed <= TOLD) log.warn(failure, 'workflow not started')
    }
  }
  if (failed > TOLD) log.warn({ failed }, 'workflows not started')
}

/** @returns What to tell when it failed. */
async function attempt(start: Start, { client, db, log }: Tools): Promise<object | undefined> {
  const facts = factsOf(start)
  try {
    await startWorkflow(client, start, again)
    await setDispatched(db, workOf(start).id)
    log.info(facts, 'workflow started by the sweeper')
    return undefined
  } catch (error) {
    return { ...facts, err: error }
  }
}
