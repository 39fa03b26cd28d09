import * as errors from '../errors.js'
import { limitTime } from '../http/limit.js'
import { jitter, mayPass, sleep } from '../http/retries.js'
import { readConnection, type Place } from '../http/stream.js'
import { createEvents } from './events.js'
import type { Api } from '../http/api.js'
import type { Event } from './event.js'
import type { Intent } from './intent.js'

export type IntentWait = {
  /** Told every event once, in their order, before the next one is read. What it throws ends the wait. */
  onEvent?: ((event: Event) => unknown) | undefined
  /** Id of the last event that was told, maybe to another process. */
  after?: string | undefined
  signal?: AbortSignal | undefined
  /** Without it, it waits until the intent has ended. */
  timeoutMs?: number | undefined
}

/** Streams that tell nothing, one after the other, before it is polled. */
const MOST_CUTS = 3
/** Polls before a stream is tried again. */
const POLLS = 6
/** A poll is answered at the next change, or after so many seconds. */
const POLL_S = 10
/** Polls that bring nothing new come no faster, whatever answers them. */
const SHORTEST_POLL_MS = 5_000
/** An event is told when all older transactions are over, and so a moment after its intent says it. */
const END_TRIES = 40
const END_PAUSE_MS = 250

const ends = ['intent.completed', 'intent.failed', 'intent.cancelled']

type FailureClass = new (intent: Intent) => errors.IntentFailedError
const classes: Record<string, FailureClass> = {
  BRIDGE_FAILED: errors.BridgeFailedError,
  BRIDGE_TIMEOUT: errors.BridgeTimeoutError,
  SWAP_FAILED: errors.SwapFailedError,
  WITHDRAW_FAILED: errors.WithdrawFailedError,
  DEPOSIT_FAILED: errors.DepositFailedError,
  CANCELLED: errors.CancelledError,
}

type Watch = {
  api: Api
  id: string
  /** Of the stream of its events. */
  place: Place
  onEvent: ((event: Event) => unknown) | undefined
  /** What no stream has told is read from the list, which a read token does not open. */
  readsList: boolean
  isEndTold: boolean
  signal: AbortSignal
  /** What the last poll has said, and which version that was. */
  intent: Intent | undefined
  version: string | undefined
  failures: number
}

const pathOf = (id: string) => `/v1/intents/${encodeURIComponent(id)}`

/** Waits over restarts of the service and lost connections; what will not pass is thrown at once. */
export async function waitForIntent(api: Api, id: string, wait: IntentWait): Promise<Intent> {
  const { onEvent, after, timeoutMs = Infinity } = wait
  const limit = limitTime(timeoutMs, wait.signal)
  const place = { path: `${pathOf(id)}/events`, query: {}, after }
  const watch: Watch = {
    ...{ api, id, place, onEvent, signal: limit.signal },
    readsList: onEvent !== undefined && !api.isReadToken,
    ...{ isEndTold: false, intent: undefined, version: undefined, failures: 0 },
  }
  try {
    return completed(await watchUntilOver(watch))
  } catch (error) {
    throw limit.isOver() && error === limit.signal.reason ? late(watch) : error
  } finally {
    limit.clear()
  }
}

/** By a stream; where none is to be had, by polling. */
async function watchUntilOver(watch: Watch): Promise<Intent> {
  let cuts = 0
  // Who goes on after an end would wait for what comes after that: the intent is looked at first.
  for (let round = watch.place.after === undefined ? 1 : 0; ; round += 1) {
    const isStreaming = cuts < MOST_CUTS
    if (round > 0 && (isStreaming || round % POLLS === 0)) {
      cuts = (await tellStream(watch)) ? 0 : cuts + 1
    }
    const intent = await look(watch, isStreaming)
    if (intent && isOver(intent)) {
      await tellRest(watch)
      return intent
    }
    if (isStreaming && cuts > 0) await sleep(jitter(cuts), watch.signal)
  }
}

/** The intent; where no stream passes, what has happened is told first, and a change is waited for. */
async function look(watch: Watch, isStreaming: boolean): Promise<Intent | undefined> {
  if (isStreaming) return poll(watch, 0)
  await tellMissed(watch)
  return poll(watch, POLL_S)
}

/** True when the stream has told something. What ended it matters only where the intent would not say it as well. */
async function tellStream(watch: Watch): Promise<boolean> {
  const { api, place, signal } = watch
  const connection = readConnection<Event>(api, place, signal)
  let hasTold = false
  try {
    while (!watch.isEndTold) {
      const next = await connection.next().catch((error: unknown) => {
        if (signal.aborted || error instanceof errors.InvalidRequestError) throw error
      })
      if (!next || next.done) break
      hasTold = true
      await tell(watch, next.value)
    }
    return hasTold
  } finally {
    await connection.return({ isOver: true, pauseMs: 0 })
  }
}

async function tell(watch: Watch, event: Event): Promise<void> {
  watch.place.after = event.id
  watch.isEndTold = ends.includes(event.type)
  await watch.onEvent?.(event)
}

/** What a stream would have told. */
async function tellMissed(watch: Watch): Promise<void> {
  const { api, id, place, signal } = watch
  if (!watch.readsList) return
  try {
    const missed = createEvents(api).list({ intentId: id, after: place.after }, { signal })
    for await (const event of missed) await tell(watch, event)
  } catch (error) {
    if (!mayPass(error)) throw error
  }
}

async function tellRest(watch: Watch): Promise<void> {
  for (let tries = 0; watch.readsList && !watch.isEndTold && tries < END_TRIES; tries += 1) {
    if (tries > 0) await sleep(END_PAUSE_MS, watch.signal)
    await tellMissed(watch)
  }
}

/** The intent; undefined when the service does not answer now, after a pause. */
async function poll(watch: Watch, seconds: number): Promise<Intent | undefined> {
  const { api, id, signal, version } = watch
  const begun = Date.now()
  try {
    const query = seconds > 0 && version !== undefined ? { wait: seconds, version } : {}
    const answer = await api.ask<Intent>(pathOf(id), query, { signal, maxRetries: 0 })
    watch.intent = answer.body
    watch.version = answer.headers.get('x-intent-version') ?? undefined
    watch.failures = 0
    const isNews = watch.version !== version
    const early = SHORTEST_POLL_MS - (Date.now() - begun)
    if (seconds > 0 && !isNews && !isOver(answer.body)) await sleep(Math.max(0, early), signal)
    return answer.body
  } catch (error) {
    if (signal.aborted || !mayPass(error)) throw error
    watch.failures += 1
    await sleep((error.retryAfter ?? 0) * 1000 + jitter(watch.failures), signal)
    return undefined
  }
}

/** A status that is newer than this library is no end, unless the intent says when it was. */
const isOver = ({ status, endedAt }: Intent) =>
  status === 'completed' || status === 'failed' || endedAt !== undefined

function completed(intent: Intent): Intent {
  if (intent.status === 'completed') return intent
  const { code = '' } = intent.error ?? {}
  const Class = Object.hasOwn(classes, code) ? classes[code] : undefined
  throw new (Class ?? errors.IntentFailedError)(intent)
}

function late({ id, intent }: Watch): errors.TimeoutError {
  const status = intent ? `is still ${intent.status}` : 'has not ended yet'
  return new errors.TimeoutError({ code: 'TIMEOUT', message: `${id} ${status}. Wait again.` })
}
