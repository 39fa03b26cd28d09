import { recordRequests, type RequestEntry } from '../../db/usage/requests.js'
import { RETRY_MS } from '../../runtime/durations.js'
import { refusalOf } from './refusals/refusal.js'
import type { Response } from 'express'
import type { ServiceError } from '../../domain/errors.js'
import type { Db } from '../../db/client/connect.js'
import type { Given } from './input.js'
import type { Log } from '../../runtime/log.js'

/** A batch is written at this age or this size. */
const BATCH_MS = 1_000
const BATCH_SIZE = 2_000
/** Some seconds of peak load, and a few megabytes, or 30 MB of refusals. Further entries are dropped. */
const MAX_WAITING = 10_000
/** Logged status of a request whose caller disconnected before the response (nginx uses the same number). */
const CLIENT_CLOSED_REQUEST = 499

/** Counts of this process, in requests since its start. */
export type RequestLogState = {
  written: number
  waiting: number
  /** Lost: the queue was full, or the database rejected them. */
  dropped: number
  /** Rejected before authentication. They have no row. */
  unknownCaller: number
}

/** Stores requests in the background. No response waits for it or fails with it. */
export type RequestLog = {
  add(entry: RequestEntry): void
  /** Counts a request without an authenticated caller. */
  addUnknown(): void
  state(): RequestLogState
  /** Writes the waiting entries, until the database fails. */
  stop(): Promise<void>
}

/**
 * @param db - A pool of one session of its own, so that no other query waits for a batch.
 * @param batchMs - Maximum age of a batch.
 */
export function createRequestLog(db: Db, log: Log, batchMs = BATCH_MS): RequestLog {
  const counts = { written: 0, dropped: 0, unknownCaller: 0 }
  let isFailing = false

  function drop(count: number, error?: unknown): void {
    if (counts.dropped === 0) log.warn({ err: error }, 'request log entries dropped')
    counts.dropped += count
  }

  const queue = createQueue(batchMs, async (batch) => {
    try {
      await recordRequests(db, batch)
      counts.written += batch.length
    } catch (error) {
      if (!isRefused(error)) {
        if (!isFailing) log.warn({ err: error }, 'request log not written, will be retried')
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
 * Collects entries into batches and writes one batch at a time.
 *
 * @param write - Returns false when the batch was not written and must be retried.
 */
function createQueue(batchMs: number, write: (batch: RequestEntry[]) => Promise<boolean>) {
  const waiting: RequestEntry[] = []
  let batch: RequestEntry[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let isStopped = false

  async function writeBatch(): Promise<boolean> {
    // A failed batch is retried unchanged: it may have been committed without a confirmation.
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
    /** Returns false when the queue is full. */
    add(entry: RequestEntry): boolean {
      if (waiting.length >= MAX_WAITING) return false
      waiting.push(entry)
      if (waiting.length === BATCH_SIZE) run()
      else schedule(batchMs)
      return true
    },
    /** @returns The number of entries that could not be written. */
    async stop(): Promise<number> {
      isStopped = true
      clearTimeout(timer)
      await writing
      while (batch.length + waiting.length > 0 && (await writeBatch()));
      return batch.length + waiting.length
    },
  }
}

/** True for data and constraint errors (SQLSTATE 22, 23): a retry would fail again. */
const isRefused = (error: unknown) => /^2[23]/.test(String((error as { code?: unknown }).code))

/** The API key or the signed-in user that sent a request. */
type LoggedCaller = { accountId: string; keyDigest: string } | { accountId: string; userId: string }

/** Facts that are collected while a request is processed and read when it is finished. */
type Noted = {
  sender?: LoggedCaller
  error?: ServiceError
  /** The input of a tool. That of other calls is in their request. */
  given?: Given
  walletId?: string
  resourceId?: string
  base?: string
  /** The tool of an MCP call. */
  tool?: string
  /** Runs once the sender is known. */
  later?: () => void
}
const notedOf = ({ locals }: Response) => locals as Noted

/**
 * Notes the sender of a request, so that it is logged. Called as soon as the account is known and the cost header is
 * set, also for requests that are rejected afterwards.
 */
export function noteSender(response: Response, sender: LoggedCaller): void {
  const noted = notedOf(response)
  noted.sender = sender
  noted.later?.()
}

/** Notes the error of the response. */
export function noteRefusal(response: Response, error: ServiceError): void {
  notedOf(response).error = error
}

/** Notes the tool of an MCP call and its input. */
export function noteTool(response: Response, name: string, given: Given): void {
  Object.assign(notedOf(response), { tool: name, given })
}

const walletIds = /^svc_wallet_[0-9a-z]{26}$/
const resourceIds = /^(intent|fund|key|wh)_[0-9a-z]{26}$/

/**
 * Notes the ids of the resources of a request. Other values are ignored: a caller may have put a secret, such as a
 * key, into the path.
 *
 * @param named - Path parameters, or the body of the response.
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

/** Statuses of requests that were rejected before authentication. */
const refusals = new Set([401, 429])

/** Adds a finished request to the log. */
export function keepRequest(
  log: RequestLog,
  response: Response,
  { requestId, at, ms }: { requestId: string; at: Date; ms: number },
): void {
  const noted = notedOf(response)
  const { sender, error, walletId, resourceId } = noted
  if (!sender) {
    if (refusals.has(response.statusCode)) log.addUnknown()
    // The caller disconnected before authentication finished.
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
    code: error?.code,
    refusal: error && JSON.stringify(refusalOf(error, inputOf(response))),
    status: response.headersSent ? response.statusCode : CLIENT_CLOSED_REQUEST,
    credits: Number(response.getHeader('X-Credits-Charged') ?? 0),
  })
}

const inputOf = (response: Response) => ({
  given: notedOf(response).given ?? response.req,
  idempotencyKey: response.req.get('idempotency-key'),
})

/** The route pattern of a request, never its URL: identifiers of callers must not reach a log. */
export function patternOf(response: Response): string {
  const { path = '' } = (response.req.route ?? {}) as { path?: string }
  const { base = '', tool } = notedOf(response)
  return base + path + (tool ? ` ${tool}` : '')
}
