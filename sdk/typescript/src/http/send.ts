import { ConnectionError, StewardError, TimeoutError } from '../errors.js'
import { readAnswer, type Answer } from './answers.js'
import { limitTime } from './limit.js'
import { delayAfter, reasonOf, sleep } from './retries.js'
import type { Settings } from '../settings.js'

/** What every call takes beside what it asks for. */
export type CallOptions = {
  /** Ends the call; it fails with the signal's reason. */
  signal?: AbortSignal | undefined
  /** For each try. */
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
}

/** Calls that change something. */
export type WriteOptions = CallOptions & {
  /** Made for you when absent. Your own one, such as an order's id, holds over restarts of your program. */
  idempotencyKey?: string | undefined
}

export type QueryValue = string | number | boolean | Date | readonly string[] | undefined
export type Query = Record<string, QueryValue>

export type Call = {
  method: 'GET' | 'POST'
  /** Below the origin: with `/v1`. */
  path: string
  query?: Query | undefined
  /** JSON. */
  text?: string | undefined
  headers?: Record<string, string>
  options?: CallOptions | undefined
  idempotencyKey?: string | undefined
}

export type Transport = {
  /** Makes a call, again where that may help. @throws {StewardError} */
  send<Body>(call: Call): Promise<Answer<Body>>
  /** One try; the answer's body is not read. @throws {ConnectionError} or the signal's reason. */
  open(call: Call, signal: AbortSignal | undefined): Promise<Response>
}

export function createTransport(settings: Settings): Transport {
  const { maxRetries, hooks } = settings
  const open = (call: Call, signal: AbortSignal | undefined) =>
    request(settings, call, { attempt: 1, signal })
  return {
    open,
    async send<Body>(call: Call) {
      const { signal, maxRetries: retries = maxRetries } = call.options ?? {}
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await tryOnce<Body>(settings, call, attempt)
        } catch (error) {
          const waitMs = attempt > retries ? undefined : delayAfter(error, attempt)
          if (waitMs === undefined) throw error
          const { method, path } = call
          tell(hooks.onRetry, { method, path, attempt, error: error as Error, waitMs })
          await sleep(waitMs, signal)
        }
      }
    },
  }
}

async function tryOnce<Body>(settings: Settings, call: Call, attempt: number) {
  const { signal, timeoutMs = settings.timeoutMs } = call.options ?? {}
  const limit = limitTime(timeoutMs, signal)
  try {
    return await readAnswer<Body>(await request(settings, call, { attempt, signal: limit.signal }))
  } catch (cause) {
    if (signal?.aborted) throw reasonOf(signal)
    throw withKey(limit.isOver() ? timedOut(timeoutMs) : toKnown(cause), call)
  } finally {
    limit.clear()
  }
}

type Try = { attempt: number; signal: AbortSignal | undefined }

async function request(
  { origin, fetch, hooks, ...settings }: Settings,
  call: Call,
  { attempt, signal }: Try,
): Promise<Response> {
  const { method, path, query = {}, text } = call
  const facts = { method, path, attempt }
  const begun = Date.now()
  tell(hooks.onRequest, facts)
  const response = await fetch(`${origin}${path}${toSearch(query)}`, {
    method,
    headers: toHeaders(settings, call),
    ...(text !== undefined && { body: text }),
    // A redirected POST may arrive as a GET, and the key elsewhere.
    redirect: 'manual',
    ...(signal && { signal }),
  })
  const { status, headers } = response
  const requestId = headers.get('x-request-id') ?? undefined
  tell(hooks.onResponse, { ...facts, status, ms: Date.now() - begun, requestId })
  return response
}

type Caller = Pick<Settings, 'apiKey' | 'isBrowser'>

const toHeaders = ({ apiKey, isBrowser }: Caller, call: Call): Record<string, string> => ({
  authorization: `Bearer ${apiKey}`,
  // A header more has a browser ask before each call.
  ...(!isBrowser && { 'user-agent': 'steward-sdk-typescript/0.3.0' }),
  ...(call.text !== undefined && { 'content-type': 'application/json' }),
  ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
  ...call.headers,
})

const timedOut = (timeoutMs: number) =>
  new TimeoutError({ code: 'TIMEOUT', message: `No answer within ${timeoutMs} ms.` })

/** Whatever `fetch` fails with means that there was no whole answer. */
export const toKnown = (cause: unknown): StewardError =>
  cause instanceof StewardError
    ? cause
    : new ConnectionError({ code: 'CONNECTION', message: 'The service cannot be reached.', cause })

function withKey(error: StewardError, { idempotencyKey }: Call): StewardError {
  return idempotencyKey === undefined ? error : Object.assign(error, { idempotencyKey })
}

/** A list goes as text with commas. */
function toSearch(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    search.set(name, value instanceof Date ? value.toISOString() : String(value))
  }
  const text = search.toString()
  return text && `?${text}`
}

function tell<Facts>(hook: ((facts: Facts) => void) | undefined, facts: Facts): void {
  try {
    hook?.(facts)
  } catch {
    // What is logged must not decide what is done.
  }
}
