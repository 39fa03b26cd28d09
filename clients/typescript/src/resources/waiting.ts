import * as errors from '../errors.js'
import { limitTime } from '../http/limit.js'
import { jitter, mayPass, sleep } from '../http/retries.js'
import { readConnection, type StreamPosition } from '../http/stream.js'
import { createEvents } from './events.js'
import type { Api } from '../http/api.js'
import type { Event } from './event.js'
import type { Intent } from './intent.js'

export type IntentWait = {
  /** Receives every event once, in order, and is awaited before the next one. An exception ends the wait. */
  onEvent?: ((event: Event) => unknown) | undefined
  /** Id of the last event that was received, possibly by another process. */
  after?: string | undefined
  signal?: AbortSignal | undefined
  /** Default: no limit. */
  timeoutMs?: number | undefined
}

/** Consecutive streams without an event before polling starts. */
const MOST_CUTS = 3
/** Polls before a stream is tried again. */
const POLLS = 6
/** Seconds after which the API responds to a poll without a change. */
const POLL_S = 10
/** Minimum interval of polls without a change. */
const SHORTEST_POLL_MS = 5_000
/** An event is emitted after all older transactions have committed, so shortly after the status of its intent. */
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
  /** Position in the event stream. */
  place: StreamPosition
  onEvent: ((event: Event) => unknown) | undefined
  /** Whether missed events are read from the list. A read token cannot read the list. */
  readsList: boolean
  hasEndEvent: boolean
  signal: AbortSignal
  /** Result and version of the last poll. */
  intent: Intent | undefined
  version: string | undefined
  failures: number
}

const pathOf = (id: string) => `/v1/intents/${encodeURIComponent(id)}`

/** Survives restarts of the service and lost connections. A permanent error is thrown at once. */
export async function waitForIntent(api: Api, id: string, wait: IntentWait): Promise<Intent> {
  const { onEvent, after, timeoutMs = Infinity } = wait
  const limit = limitTime(timeoutMs, wait.signal)
  const place = { path: `${pathOf(id)}/events`, query: {}, after }
  const watch: Watch = {
    ...{ api, id, place, onEvent, signal: limit.signal },
    readsList: onEvent !== undefined && !api.isReadToken,
    ...{ hasEndEvent: false, intent: undefined, version: undefined, failures: 0 },
  }
  try {
    return completed(await watchUntilOver(watch))
  } catch (error) {
    throw limit.isOver() && error === limit.signal.reason ? late(watch) : error
  } finally {
    limit.clear()
  }
}

/** Waits with a stream, or with polling when streams do not work. */
async function watchUntilOver(watch: Watch): Promise<Intent> {
  let cuts = 0
  // `after` may be the last event. The intent is read first then.
  for (let round = watch.place.after === undefined ? 1 : 0; ; round += 1) {
    const isStreaming = cuts < MOST_CUTS
    if (round > 0 && (isStreaming || round % POLLS === 0)) {
      cuts = (await readStream(watch)) ? 0 : cuts + 1
    }
    const intent = await readIntent(watch, isStreaming)
    if (intent && isOver(intent)) {
      await deliverRest(watch)
      return intent
    }
    if (isStreaming && cuts > 0) await sleep(jitter(cuts), watch.signal)
  }
}

/** Reads the intent. Without streams, missed events are delivered first and the call waits for a change. */
async function readIntent(watch: Watch, isStreaming: boolean): Promise<Intent | undefined> {
  if (isStreaming) return poll(watch, 0)
  await deliverMissed(watch)
  return poll(watch, POLL_S)
}

/** Returns whether the stream had an event. Its error is ignored, because reading the intent would report it. */
async function readStream(watch: Watch): Promise<boolean> {
  const { api, place, signal } = watch
  const connection = readConnection<Event>(api, place, signal)
  let hasEvent = false
  try {
    while (!watch.hasEndEvent) {
      const next = await connection.next().catch((error: unknown) => {
        if (signal.aborted || error instanceof errors.InvalidRequestError) throw error
      })
      if (!next || next.done) break
      hasEvent = true
      await deliver(watch, next.value)
    }
    return hasEvent
  } finally {
    await connection.return({ isOver: true, pauseMs: 0 })
  }
}

async function deliver(watch: Watch, event: Event): Promise<void> {
  watch.place.after = event.id
  watch.hasEndEvent = ends.includes(event.type)
  await watch.onEvent?.(event)
}

/** Delivers the events that a stream would have sent. */
async function deliverMissed(watch: Watch): Promise<void> {
  const { api, id, place, signal } = watch
  if (!watch.readsList) return
  try {
    const missed = createEvents(api).list({ intentId: id, after: place.after }, { signal })
    for await (const event of missed) await deliver(watch, event)
  } catch (error) {
    if (!mayPass(error)) throw error
  }
}

async function deliverRest(watch: Watch): Promise<void> {
  for (let tries = 0; watch.readsList && !watch.hasEndEvent && tries < END_TRIES; tries += 1) {
    if (tries > 0) await sleep(END_PAUSE_MS, watch.signal)
    await deliverMissed(watch)
  }
}

/** The intent. Undefined after a temporary error and a pause. */
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

/** An unknown status is not final, unless `endedAt` is set. */
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
