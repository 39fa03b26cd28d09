import { Context } from '@temporalio/activity'
import { findStop, type Stop } from '../db/lanes/stops.js'
import { HELD_UP, isUsual, type Hold } from '../domain/hold.js'
import { waitingCodeOf } from '../domain/waiting.js'
import type { Order } from '../db/auditEvents.js'
import type { Db } from '../db/connection/connect.js'
import type { Operation } from '../db/lanes/operations.js'

/** What the workflow was told last. Heartbeats carry it from attempt to attempt, beside the history. */
type Told = { what: string; at: number; times: number }

/** A workflow that does not answer must not hold up the money. */
const SIGNAL_MS = 2_000
/** Each telling writes a handful of events: the first ones go at once, then more and more rarely. */
const [FREE_TELLINGS, LONGEST_PAUSE_MS] = [4, 3_600_000]
/** After one that reached nobody. */
const RETRY_MS = 1_000

export type Teller = {
  /** Tells Temporal that the activity is alive. */
  beat(): void
  /**
   * Tells the workflow what holds its step up, if that is news. Never fails: it is for people to read. Returns after
   * how many milliseconds it could be told that was not.
   */
  tell(hold: Hold): Promise<number | undefined>
  /** Whether the workflow says something that another state of the row would make wrong. */
  hasTold(): boolean
}

/** A teller for the attempt that runs now. */
export function createTeller(): Teller {
  const context = Context.current()
  const isIntent = context.info.workflowType === 'executeIntent'
  let told = toTold(context.info.heartbeatDetails)
  return {
    beat: () => {
      context.heartbeat(told)
    },
    async tell(hold) {
      if (!isIntent || !isNews(hold, told)) return undefined
      const pauseMs = pauseBefore(told)
      if (pauseMs > 0) return pauseMs
      try {
        await signal(context, hold)
      } catch {
        return RETRY_MS
      }
      told = { what: keyOf(hold), at: Date.now(), times: (told?.times ?? 0) + 1 }
      context.heartbeat(told)
      return undefined
    },
    hasTold: () => told !== undefined,
  }
}

const keyOf = ({ code, failure }: Hold) => [code, failure].join(' ').trim()

const isNews = (hold: Hold, told: Told | undefined): boolean =>
  told ? told.what !== keyOf(hold) : !hold.isUsual

/** Milliseconds until the next one may be told. */
function pauseBefore(told: Told | undefined): number {
  if (!told || told.times < FREE_TELLINGS) return 0
  const pauseMs = Math.min(1_000 * 2 ** (told.times - FREE_TELLINGS), LONGEST_PAUSE_MS)
  return Math.max(told.at + pauseMs - Date.now(), 0)
}

/** Details that another version wrote say nothing. */
function toTold(details: unknown): Told | undefined {
  const isTold = typeof details === 'object' && details !== null && 'what' in details
  return isTold ? (details as Told) : undefined
}

async function signal({ client, info }: Context, hold: Hold): Promise<void> {
  const { workflowId = '', runId = '' } = info.workflowExecution ?? {}
  await client.withDeadline(Date.now() + SIGNAL_MS, () =>
    client.workflow.getHandle(workflowId, runId).signal(HELD_UP, hold),
  )
}

/** What holds up an operation that is not over; undefined when it is. An operator's stop comes first. */
export async function findHold(db: Db, row: Operation): Promise<Hold | undefined> {
  const stop = isUnsent(row) ? await findStop(db, row) : undefined
  return stop ? stoppedBy(stop) : holdOf(row)
}

/** No transaction of ours carries it now. */
export const isUnsent = ({ state, txId }: Operation) =>
  state === 'queued' || state === 'deferred' || (state === 'signed' && txId === null)

/** What whoever waits for an operator is told. */
export function stoppedBy({ scope, since, by, why }: Stop & Order): Hold {
  const isPaused = scope === 'chain' || scope === 'deployment'
  const message = `The ${scope} is ${isPaused ? 'paused' : 'frozen'} since ${since.toISOString()} by ${by}: ${why}`
  return { code: isPaused ? 'PAUSED' : 'FROZEN', message, since: since.toISOString() }
}

/** What holds it up unless an operator does. */
export function holdOf(row: Operation): Hold | undefined {
  const code = waitingCodeOf({ ...row, isCarried: row.txId !== null })
  if (!code) return undefined
  const since = sinceWhen(row)
  const hold = { code, message: reasonOf(row), since: since.toISOString() }
  return isUsual(code, Date.now() - since.getTime()) ? { ...hold, isUsual: true } : hold
}

function sinceWhen({ state, waitsSince, changedAt, createdAt }: Operation): Date {
  const isUnsigned = state === 'queued' || state === 'deferred'
  return (isUnsigned ? waitsSince : changedAt) ?? createdAt
}

/** What an operation that is not over waits for, as its row says. */
export function reasonOf({ state, kind, txHash, spentSince, waitsFor, message }: Operation) {
  const known = spentSince !== null || waitsFor !== null ? message : null
  switch (state) {
    case 'deferred':
      return message ?? state
    case 'queued':
      return known ?? `Waits for the signer${turns[kind] ?? ''}.`
    case 'signed':
      return message ?? 'Signed and sent, waits to be mined.'
    default:
      return `In transaction ${txHash}, waits for confirmations.`
  }
}

const turns: Partial<Record<Operation['kind'], string>> = {
  swap: ', which lets one swap of a pair go at a time',
  bridge: ', which lets one burn of a wallet go at a time',
}
