import { ConnectionError, StewardError } from '../errors.js'
import { parseJson, toError } from './answers.js'
import { createFrameReader } from './frames.js'
import { jitter, mayPass, reasonOf, sleep } from './retries.js'
import { toKnown, type Query } from './send.js'
import type { Api } from './api.js'

/** What is followed. `after`: id of the last event that is known; it moves on with what is told. */
export type Place = { path: string; query: Query; after: string | undefined }

/** A service that says nothing asks to be left alone for so long. */
const PAUSE_MS = 1_000

/** The service says something as soon as a stream is open; what gathers answers on the way would not let it pass. */
const FIRST_MS = 10_000

/**
 * What one connection tells, until it ends.
 *
 * @param place - Its `after` moves on.
 * @returns Whether there is nothing more to come (204), and after how many ms to come again.
 * @throws {StewardError}, or what the signal was aborted with.
 */
export async function* readConnection<Event>(
  api: Api,
  place: Place,
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
 * Everything that is told from a place on, over as many connections as it takes.
 *
 * @throws {StewardError} what will not pass, or what the signal was aborted with.
 */
export async function* follow<Event>(
  api: Api,
  place: Place,
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

/** Undefined when there is nothing more to come. */
async function connect(api: Api, { path, query, after }: Place, signal: AbortSignal) {
  const headers = {
    accept: 'text/event-stream',
    ...(after !== undefined && { 'last-event-id': after }),
  }
  const response = await api.open({ method: 'GET', path, query, headers }, signal)
  const { status } = response
  if (status === 204) return undefined
  if (status !== 200) throw toError(response, parseJson(await response.text()))
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) return response
  const message = 'Something between here and the service does not let streams pass.'
  throw new StewardError({ code: 'INVALID_ANSWER', message, status })
}

async function* readText(response: Response, { signal, renew }: Guard): AsyncGenerator<string> {
  const reader = response.body?.getReader()
  // Also where a body does not hear of the signal of its request.
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

type Guard = ReturnType<typeof guardSilence>

/** Ends a connection that says nothing, not even that it is there: the service does so every 15 seconds. */
function guardSilence(idleMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController()
  const onSilence = () => {
    const message = 'The stream has fallen silent.'
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
