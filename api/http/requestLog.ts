import { recordRequests, type RequestEntry } from '../../db/tenants/requests.js'
import { RETRY_MS } from '../../durations.js'
import type { Response } from 'express'
import type { Db } from '../../db/connection/connect.js'
import type { Log } from '../../log.js'

/** A batch is written when it is so old or so large, whichever is first. */
const BATCH_MS = 1_000
const BATCH_SIZE = 2_000
/** Some seconds of the greatest load, and a few megabytes. What comes while so many wait is dropped. */
const MAX_WAITING = 10_000
/** What is kept of a request whose caller went away before its answer: no status was sent. */
const CALLER_GONE = 499

/** How the request log of this process is doing, in requests since it began. */
export type RequestLogState = {
  written: number
  waiting: number
  /** Not kept: too many waited, or the database refused them. */
  dropped: number
  /** Refused before it was known whose they are: they leave no row. */
  unknownCaller: number
}

/** Keeps requests in the background: no answer waits for it, and none fails with it. */
export type RequestLog = {
  add(entry: RequestEntry): void
  /** Counts a request that is nobody's. */
  addUnknown(): void
  state(): RequestLogState
  /** Writes what waits, as far as the database takes it. */
  stop(): Promise<void>
}

/**
 * @param db - A pool of one session that nobody else uses: nobody's query waits for a batch.
 * @param batchMs - How long entries wait for others.
 */
export function createRequestLog(db: Db, log: Log, batchMs = BATCH_MS): RequestLog {
  const counts = { written: 0, dropped: 0, unknownCaller: 0 }
  let isFailing = false

  function drop(count: number, error?: unknown): void {
    if (counts.dropped === 0) log.warn({ err: error }, 'requests are dropped from the request log')
    counts.dropped += count
  }

  const queue = createQueue(batchMs, async (batch) => {
    try {
      await recordRequests(db, batch)
      counts.written += batch.length
    } catch (error) {
      if (!isRefused(error)) {
        if (!isFailing) log.warn({ err: error }, 'the request log waits for the database')
        isFailing = true
        return false
      }
      drop(batch.length, error)
    }
    isFailing = false
    return true
  })

  return {
    add(entry) {
      if (!queue.add(entry)) drop(1)
    },
    addUnknown() {
      counts.unknownCaller += 1
    },
    state: () => ({ ...counts, waiting: queue.size() }),
    async stop() {
      const left = await queue.stop()
      if (left > 0) drop(left)
    },
  }
}

/**
 * Gathers entries to batches, and writes one at a time.
 *
 * @param write - False: the batch was not taken, and is tried again.
 */
function createQueue(batchMs: number, write: (batch: RequestEntry[]) => Promise<boolean>) {
  const waiting: RequestEntry[] = []
  let batch: RequestEntry[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let isStopped = false

  async function writeBatch(): Promise<boolean> {
    // One that was not taken stays as it is: it may have been, and only the word of it was lost.
    if (batch.length === 0) batch = waiting.splice(0, BATCH_SIZE)
    const isWritten = await write(batch)
    if (isWritten) batch = []
    return isWritten
  }

  function schedule(ms: number): void {
    if (!isStopped) timer ??= setTimeout(run, ms)
  }

  function run(): void {
    clearTimeout(timer)
    timer = undefined
    writing ??= writeBatch().then((isWritten) => {
      writing = undefined
      if (!isWritten) schedule(RETRY_MS)
      else if (waiting.length > 0) schedule(waiting.length < BATCH_SIZE ? batchMs : 0)
    })
  }

  return {
    size: () => batch.length + waiting.length,
    /** False: too many wait. */
    add(entry: RequestEntry): boolean {
      if (waiting.length >= MAX_WAITING) return false
      waiting.push(entry)
      if (waiting.length === BATCH_SIZE) run()
      else schedule(batchMs)
      return true
    },
    /** @returns How many are left, because they were not taken. */
    async stop(): Promise<number> {
      isStopped = true
      clearTimeout(timer)
      await writing
      while (batch.length + waiting.length > 0 && (await writeBatch()));
      return batch.length + waiting.length
    },
  }
}

/** A value or a row that the database refuses would be refused again. */
const isRefused = (error: unknown) => /^2[23]/.test(String((error as { code?: unknown }).code))

/** Whose a request is: the key that it came with, or who is signed in. */
type Sender = { accountId: string; keyDigest: string } | { accountId: string; userId: string }

/** What is told of a request while it is answered, and read when it is over. */
type Noted = {
  sender?: Sender
  code?: string
  walletId?: string
  resourceId?: string
  base?: string
  /** Of an endpoint that does several things: which. */
  tool?: string
  /** What is left to do once the sender is known. */
  later?: () => void
}
const notedOf = ({ locals }: Response) => locals as Noted

/**
 * Has a request kept. A door calls it as soon as it knows the account and has set what the call costs, also of
 * those that it refuses then.
 */
export function noteSender(response: Response, sender: Sender): void {
  const noted = notedOf(response)
  noted.sender = sender
  noted.later?.()
}

/** Notes the code of the error that answers a request. */
export function noteCode(response: Response, code: string): void {
  notedOf(response).code = code
}

/** Notes what a request does of what its endpoint can do, by a name of ours. */
export function noteTool(response: Response, name: string): void {
  notedOf(response).tool = name
}

const walletIds = /^svc_wallet_[0-9a-z]{26}$/
const resourceIds = /^(intent|fund|key|wh)_[0-9a-z]{26}$/

/**
 * Notes what a request is about, as far as that has an id of ours: whatever else callers put into a path may be
 * what they should have put elsewhere, such as a key.
 *
 * @param named - Parameters of the path, or the body of the answer.
 */
export function noteSubject(response: Response, named: unknown): void {
  if (typeof named !== 'object' || named === null) return
  const noted = notedOf(response)
  const { id, walletId, intentId, webhookId } = named as Record<string, unknown>
  for (const value of [id, walletId, intentId, webhookId]) {
    if (typeof value !== 'string') continue
    if (walletIds.test(value)) noted.walletId = value
    else if (resourceIds.test(value)) noted.resourceId = value
  }
}

/** How a caller is refused of whom nothing is known yet. */
const refusals = new Set([401, 429])

/** Adds a request that is over to the log. */
export function keepRequest(
  log: RequestLog,
  response: Response,
  { requestId, at, ms }: { requestId: string; at: Date; ms: number },
): void {
  const noted = notedOf(response)
  const { sender, code, walletId, resourceId } = noted
  if (!sender) {
    if (refusals.has(response.statusCode)) log.addUnknown()
    // Its caller did not wait to be known.
    if (!response.headersSent) noted.later = () => keepRequest(log, response, { requestId, at, ms })
    return
  }
  log.add({
    id: requestId,
    at,
    ms,
    accountId: sender.accountId,
    keyDigest: 'keyDigest' in sender ? sender.keyDigest : undefined,
    userId: 'userId' in sender ? sender.userId : undefined,
    method: response.req.method,
    path: patternOf(response),
    walletId,
    resourceId,
    code,
    status: response.headersSent ? response.statusCode : CALLER_GONE,
    credits: Number(response.getHeader('X-Credits-Charged') ?? 0),
  })
}

/** The pattern of the route that a request has met, never its URL: a caller's identifiers belong in no log. */
export function patternOf(response: Response): string {
  const { path = '' } = (response.req.route ?? {}) as { path?: string }
  const { base = '', tool } = notedOf(response)
  return base + path + (tool ? ` ${tool}` : '')
}
