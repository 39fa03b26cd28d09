import { settles } from '../../../domain/events/events.js'
import { ServiceError } from '../../../domain/errors.js'
import {
  readPage,
  type EventFilter,
  type EventPage,
  type PlacedEvent,
  type EventPosition,
} from '../../../db/intents/events.js'
import { clearDeadline } from '../deadline.js'
import { openEventStream, toMark } from './eventStream.js'
import { createEventFanOut, type EventFanOut } from './eventFanOut.js'
import type { Caller } from '../auth/caller.js'
import type { Response } from 'express'
import type { Db } from '../../../db/client/connect.js'
import type { Log } from '../../../runtime/log.js'

export type StreamLimits = {
  /** Maximum number of streams and waiting requests per account in this process. */
  perAccount: number
  /** Interval of heartbeat comments, so that proxies keep the connection open. */
  heartbeatMs: number
  /** Interval at which all streams are read and their callers checked, also without a notification. */
  pollMs: number
  /** Unread bytes after which a slow client is disconnected. */
  bufferBytes: number
}
export const usualStreams: StreamLimits = {
  ...{ perAccount: 1_000, heartbeatMs: 15_000, pollMs: 5_000, bufferBytes: 256 * 1024 },
}
const PAGE = 200
/** Retry-After when the account has too many streams, seconds. */
const RETRY_AFTER_S = 5

/** The events of a stream. */
export type StreamedEvents = {
  filter: EventFilter
  after: EventPosition
  /** True when no events are expected after `after`. Absent for a stream without an end. */
  isSettled?: boolean
  /** The id after which a client without an event resumes. */
  startId?: string
  /** An event on the wire. */
  toText(event: PlacedEvent): string
}

/** The client of a stream. */
export type StreamClient = {
  response: Response
  requestId: string
  caller: Caller
  /** Whether callers of this auth scheme are still authorized. One function per scheme. */
  stillKnown: ((db: Db, callers: never[]) => Promise<boolean[]>) | undefined
}
type OpenStream = StreamClient & { beat(): void; end(): void }

/** All streams of this process. They share reads, one heartbeat timer and one poll. */
export function createStreams(db: Db, log: Log, limits: StreamLimits = usualStreams) {
  const fanOut = createEventFanOut(db, log)
  const readShared = shareReads(db)
  const open = new Set<OpenStream>()
  const closing = new AbortController()
  const lookAfter = () => {
    fanOut.wake()
    void endUnauthorized(db, [...open], log)
  }
  const takeSeat = createSeats(limits.perAccount, () => [
    setInterval(() => [...open].forEach(({ beat }) => beat()), limits.heartbeatMs).unref(),
    setInterval(lookAfter, limits.pollMs).unref(),
  ])

  return {
    fanOut,
    takeSeat,
    /** Aborts when this process stops. */
    closing: closing.signal,
    /** Ends all streams. Clients reconnect to another process. */
    close(): void {
      closing.abort()
      for (const { end } of [...open]) end()
    },
    /**
     * Sends server-sent events until the source ends, the client disconnects or the process stops. Responds with 204
     * when there are no more events.
     *
     * @throws {ServiceError} RATE_LIMITED when the account has too many open streams. Nothing is sent then.
     */
    async serve(client: StreamClient, source: StreamedEvents): Promise<void> {
      const { response, requestId } = client
      const { accountId } = client.caller
      if (response.closed) return
      response.once('close', takeSeat(accountId))
      const read = (after: EventPosition) => readShared(accountId, source.filter, after)
      const page = await read(source.after)
      if (response.closed || response.headersSent) return
      clearDeadline(response)
      if (source.isSettled && page.events.length === 0) {
        response.writeHead(204).end()
        return
      }
      const stream = beginStream(client, limits, log)
      const entry = { ...client, ...stream }
      open.add(entry)
      response.once('close', () => open.delete(entry))
      if (closing.signal.aborted || response.req.method === 'HEAD') {
        stream.end()
        return
      }
      await follow({ stream, source, fanOut, accountId, read }, page).catch((error: unknown) => {
        log.warn({ err: error, requestId }, 'stream broken')
        response.destroy()
      })
    },
  }
}
export type Streams = ReturnType<typeof createStreams>

function beginStream(
  { response, requestId }: StreamClient,
  { bufferBytes }: StreamLimits,
  log: Log,
) {
  const onCut = () => {
    log.info({ requestId }, 'stream closed: client too slow')
  }
  return openEventStream(response, { bufferBytes, onCut })
}

type OpenedStream = {
  stream: ReturnType<typeof openEventStream>
  source: StreamedEvents
  fanOut: EventFanOut
  accountId: string
  read(after: EventPosition): Promise<EventPage>
}

/** Sends past events page by page, then new events. */
async function follow(
  { stream, source, fanOut, accountId, read }: OpenedStream,
  first: EventPage,
): Promise<void> {
  const { filter, toText } = source
  let isSettled = source.isSettled
  const settle = (events: PlacedEvent[]) => {
    if (isSettled === undefined) return
    for (const event of events) isSettled = settles(event) ?? isSettled
  }
  if (source.startId !== undefined) stream.write(toMark(source.startId))
  let page = first
  while (stream.isOpen()) {
    settle(page.events)
    await stream.writeSlowly(page.events.map(toText).join(''))
    if (!stream.isOpen()) return
    if (!page.isFull) {
      if (isSettled) {
        stream.end()
        return
      }
      const leave = fanOut.join(accountId, page.horizon, {
        filter,
        onEvents(events) {
          if (!stream.isOpen()) return
          settle(events)
          stream.write(events.map(toText).join(''))
          if (isSettled) stream.end()
        },
      })
      if (leave) {
        stream.onClose(leave)
        return
      }
    }
    page = await read(page.horizon)
  }
}

/** Concurrent identical reads share one query. */
function shareReads(db: Db) {
  const underWay = new Map<string, Promise<EventPage>>()
  return (accountId: string, filter: EventFilter, after: EventPosition): Promise<EventPage> => {
    const name = JSON.stringify([accountId, filter, String(after.xact), String(after.id)])
    const known = underWay.get(name)
    if (known) return known
    const page = readPage(db, accountId, { ...filter, after, limit: PAGE })
    underWay.set(name, page)
    return page.finally(() => underWay.delete(name))
  }
}

/**
 * Counts open streams by account.
 *
 * @param watch - Starts timers when the first stream opens. They are cleared when the last one closes.
 * @returns A function that adds a stream and returns a function to remove it. It throws RATE_LIMITED at the limit.
 */
function createSeats(perAccount: number, watch: () => NodeJS.Timeout[]) {
  const seats = new Map<string, number>()
  let timers: NodeJS.Timeout[] = []
  return (accountId: string): (() => void) => {
    const open = seats.get(accountId) ?? 0
    if (open >= perAccount) throw tooManyStreams(perAccount)
    if (seats.size === 0) timers = watch()
    seats.set(accountId, open + 1)
    return () => {
      const left = (seats.get(accountId) ?? 1) - 1
      if (left > 0) seats.set(accountId, left)
      else seats.delete(accountId)
      if (seats.size === 0) for (const timer of timers) clearInterval(timer)
    }
  }
}

function tooManyStreams(limit: number): ServiceError {
  const retryAfter = RETRY_AFTER_S
  const message = `This account has ${limit} open streams. Close one, or try again in ${retryAfter} s.`
  return new ServiceError('RATE_LIMITED', message, { limit, window: 'open streams', retryAfter })
}

/** Ends the streams of callers that are no longer authorized. One check per auth scheme. */
async function endUnauthorized(db: Db, streams: OpenStream[], log: Log): Promise<void> {
  for (const ask of new Set(streams.map(({ stillKnown }) => stillKnown))) {
    if (!ask) continue
    const own = streams.filter(({ stillKnown }) => stillKnown === ask)
    try {
      const callers = own.map(({ caller }) => caller)
      const known = await ask(db, callers as never[])
      for (const [at, { end }] of own.entries()) if (known[at] === false) end()
    } catch (error) {
      log.warn({ err: error }, 'callers of streams not checked')
    }
  }
}
