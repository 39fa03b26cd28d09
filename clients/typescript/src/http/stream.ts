import { ConnectionError, StewardError } from '../errors.js'
import { parseJson, toError } from './answers.js'
import { createFrameReader } from './frames.js'
import { jitter, mayPass, reasonOf, sleep } from './retries.js'
import { toKnown, type Query } from './send.js'
import type { Api } from './api.js'

/** The position in a stream. `after`: id of the last received event, updated with each event. */
export type StreamPosition = { path: string; query: Query; after: string | undefined }

/** Default pause before reconnecting, when the service sends no `retry`. */
const PAUSE_MS = 1_000

/** Timeout of the first data. The service sends data as soon as a stream opens; a buffering proxy would hold it back. */
const FIRST_MS = 10_000

/**
 * Yields the events of one connection until it closes.
 *
 * @param place - `after` is updated with each event.
 * @returns Whether the stream is complete (204), and the pause in milliseconds before reconnecting.
 * @throws {StewardError} or the reason of the signal.
 */
export async function* readConnection<Event>(
  api: Api,
  place: StreamPosition,
  signal: AbortSignal | undefined,
): AsyncGenerator<Event, { isOver: boolean; pauseMs: number }> {
  const guard = guardSilence(api.idleMs, signal)
  let pauseMs = PAUSE_MS
  try {
    const response = await connect(api, place, guard.signal)
    if (!response) return { isOver: true, pauseMs }
    const toFrames = createFrameReader((ms) => {
      pauseMs = ms
    })
    for await (const piece of readText(response, guard)) {
      for (const { id, data } of toFrames(piece)) {
        place.after = id ?? place.after
        const event = data === undefined ? undefined : parseJson(data)
        if (event !== undefined) yield event as Event
      }
    }
    return { isOver: false, pauseMs }
  } catch (cause) {
    if (signal?.aborted) throw reasonOf(signal)
    throw toKnown(cause)
  } finally {
    guard.clear()
  }
}

/**
 * Yields all events after a position and reconnects as needed.
 *
 * @throws {StewardError} for a permanent error, or the reason of the signal.
 */
export async function* follow<Event>(
  api: Api,
  place: StreamPosition,
  signal: AbortSignal | undefined,
): AsyncGenerator<Event, void> {
  let failures = 0
  for (;;) {
    try {
      const connection = readConnection<Event>(api, place, signal)
      let next = await connection.next()
      for (; !next.done; next = await connection.next()) {
        failures = 0
        yield next.value
      }
      if (next.value.isOver) return
      await sleep(next.value.pauseMs, signal)
    } catch (error) {
      if (signal?.aborted || !mayPass(error)) throw error
      failures += 1
      await sleep((error.retryAfter ?? 0) * 1000 + jitter(failures), signal)
    }
  }
}

/** Undefined when the stream is complete. */
async function connect(api: Api, { path, query, after }: StreamPosition, signal: AbortSignal) {
  const headers = {
    accept: 'text/event-stream',
    ...(after !== undefined && { 'last-event-id': after }),
  }
  const response = await api.open({ method: 'GET', path, query, headers }, signal)
  const { status } = response
  if (status === 204) return undefined
  if (status !== 200) throw toError(response, parseJson(await response.text()))
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) return response
  const message =
    'The response is not an event stream. Check for a proxy between client and service.'
  throw new StewardError({ code: 'INVALID_ANSWER', message, status })
}

async function* readText(
  response: Response,
  { signal, renew }: SilenceGuard,
): AsyncGenerator<string> {
  const reader = response.body?.getReader()
  // Some runtimes do not abort the body with the signal of the request.
  const stop = () => void reader?.cancel().catch(() => undefined)
  signal.addEventListener('abort', stop)
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const piece = await reader?.read()
      signal.throwIfAborted()
      if (!piece || piece.done) return
      renew()
      yield decoder.decode(piece.value, { stream: true })
    }
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

type SilenceGuard = ReturnType<typeof guardSilence>

/** Closes a silent connection. The service sends a heartbeat every 15 seconds. */
function guardSilence(idleMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController()
  const onSilence = () => {
    const message = 'The stream sent no data in time.'
    controller.abort(new ConnectionError({ code: 'CONNECTION', message }))
  }
  let timer = setTimeout(onSilence, Math.min(idleMs, FIRST_MS))
  const stop = () => controller.abort(outer?.reason)
  if (outer?.aborted) stop()
  outer?.addEventListener('abort', stop)
  return {
    signal: controller.signal,
    renew() {
      clearTimeout(timer)
      timer = setTimeout(onSilence, idleMs)
    },
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', stop)
      controller.abort()
    },
  }
}
