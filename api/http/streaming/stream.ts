import { settles } from '../../../domain/events.js'
import { ServiceError } from '../../../domain/errors.js'
import {
  readPage,
  type EventFilter,
  type EventPage,
  type PlacedEvent,
  type Position,
} from '../../../db/intents/events.js'
import { liftDeadline } from '../deadline.js'
import { openEventStream, toMark } from './eventStream.js'
import { createFeed, type Feed } from './feed.js'
import type { Response } from 'express'
import type { Db } from '../../../db/connection/connect.js'
import type { Log } from '../../../log.js'

export type StreamLimits = {
  /** Streams and waiting requests that one account may have open in this process. */
  perAccount: number
  /** A comment that often, so that nobody in between takes the connection for dead. */
  heartbeatMs: number
  /** How often all that is open is looked after, whether something was announced or not. */
  pollMs: number
  /** What may wait for a slow reader. */
  bufferBytes: number
}
export const usualStreams: StreamLimits = {
  ...{ perAccount: 1_000, heartbeatMs: 15_000, pollMs: 5_000, bufferBytes: 256 * 1024 },
}
const PAGE = 200
/** In seconds, for those who find no room. */
const ROOM_AFTER_S = 5

/** What is told on a stream. */
export type Story = {
  filter: EventFilter
  after: Position
  /** Nothing more was to be expected at `after`. Absent for a story without an end. */
  isSettled?: boolean
  /** The id by which a client goes on who has seen no event yet. */
  startId?: string
  /** An event as it goes over the wire. */
  toText(event: PlacedEvent): string
}

type Caller = { accountId: string }

/** Who reads a stream. */
export type Reader = {
  response: Response
  requestId: string
  caller: Caller
  /** Of callers who came like him, whether they would be let in still; the same function for all of them. */
  stillKnown: ((db: Db, callers: never[]) => Promise<boolean[]>) | undefined
}
type Open = Reader & { beat(): void; end(): void }

/** All streams of this process: they share what is read, one heartbeat and one poll. */
export function createStreams(db: Db, log: Log, limits: StreamLimits = usualStreams) {
  const feed = createFeed(db, log)
  const readShared = shareReads(db)
  const open = new Set<Open>()
  const closing = new AbortController()
  const lookAfter = () => {
    feed.wake()
    void endUnknown(db, [...open], log)
  }
  const takeSeat = createSeats(limits.perAccount, () => [
    setInterval(() => [...open].forEach(({ beat }) => beat()), limits.heartbeatMs).unref(),
    setInterval(lookAfter, limits.pollMs).unref(),
  ])

  return {
    feed,
    takeSeat,
    /** Aborts when this process takes its leave. */
    closing: closing.signal,
    /** Ends all streams: their clients come again, to a process that stays. */
    close(): void {
      closing.abort()
      for (const { end } of [...open]) end()
    },
    /**
     * Tells a story as server-sent events until it ends, the client leaves or the service does; 204 when the client
     * has had all of it.
     *
     * @throws {ServiceError} RATE_LIMITED when the account has no room for one more. Nothing is sent then.
     */
    async serve(reader: Reader, story: Story): Promise<void> {
      const { response, requestId } = reader
      const { accountId } = reader.caller
      if (response.closed) return
      response.once('close', takeSeat(accountId))
      const read = (after: Position) => readShared(accountId, story.filter, after)
      const page = await read(story.after)
      if (response.closed || response.headersSent) return
      liftDeadline(response)
      if (story.isSettled && page.events.length === 0) {
        response.writeHead(204).end()
        return
      }
      const stream = beginStream(reader, limits, log)
      const entry = { ...reader, ...stream }
      open.add(entry)
      response.once('close', () => open.delete(entry))
      if (closing.signal.aborted || response.req.method === 'HEAD') {
        stream.end()
        return
      }
      await follow({ stream, story, feed, accountId, read }, page).catch((error: unknown) => {
        log.warn({ err: error, requestId }, 'stream broken')
        response.destroy()
      })
    },
  }
}
export type Streams = ReturnType<typeof createStreams>

function beginStream({ response, requestId }: Reader, { bufferBytes }: StreamLimits, log: Log) {
  const onCut = () => {
    log.info({ requestId }, 'stream cut off: it is not read')
  }
  return openEventStream(response, { bufferBytes, onCut })
}

type Following = {
  stream: ReturnType<typeof openEventStream>
  story: Story
  feed: Feed
  accountId: string
  read(after: Position): Promise<EventPage>
}

/** Tells what has happened, page by page, and then what happens. */
async function follow(
  { stream, story, feed, accountId, read }: Following,
  first: EventPage,
): Promise<void> {
  const { filter, toText } = story
  let isSettled = story.isSettled
  const settle = (events: PlacedEvent[]) => {
    if (isSettled === undefined) return
    for (const event of events) isSettled = settles(event) ?? isSettled
  }
  if (story.startId !== undefined) stream.write(toMark(story.startId))
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
      const leave = feed.join(accountId, page.horizon, {
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

/** What many ask for at the same time is read once. */
function shareReads(db: Db) {
  const underWay = new Map<string, Promise<EventPage>>()
  return (accountId: string, filter: EventFilter, after: Position): Promise<EventPage> => {
    const name = JSON.stringify([accountId, filter, String(after.xact), String(after.id)])
    const known = underWay.get(name)
    if (known) return known
    const page = readPage(db, accountId, { ...filter, after, limit: PAGE })
    underWay.set(name, page)
    return page.finally(() => underWay.delete(name))
  }
}

/**
 * Counts what is open.
 *
 * @param watch - Called when the first one comes; what it starts ends with the last one.
 * @returns Takes a seat; the answer gives it back. RATE_LIMITED when the account has as many as it may.
 */
function createSeats(perAccount: number, watch: () => NodeJS.Timeout[]) {
  const seats = new Map<string, number>()
  let timers: NodeJS.Timeout[] = []
  return (accountId: string): (() => void) => {
    const taken = seats.get(accountId) ?? 0
    if (taken >= perAccount) throw noRoom(perAccount)
    if (seats.size === 0) timers = watch()
    seats.set(accountId, taken + 1)
    return () => {
      const left = (seats.get(accountId) ?? 1) - 1
      if (left > 0) seats.set(accountId, left)
      else seats.delete(accountId)
      if (seats.size === 0) for (const timer of timers) clearInterval(timer)
    }
  }
}

function noRoom(limit: number): ServiceError {
  const retryAfter = ROOM_AFTER_S
  const message = `This account has ${limit} open streams. Close one, or try again in ${retryAfter} s.`
  return new ServiceError('RATE_LIMITED', message, { limit, window: 'open streams', retryAfter })
}

/** Ends the streams of those who would not be let in any more: asked once for all that came the same way. */
async function endUnknown(db: Db, streams: Open[], log: Log): Promise<void> {
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
