import { ConnectionError, StewardError, TimeoutError } from '../errors.js'
import { readAnswer, type ParsedResponse } from './answers.js'
import { limitTime } from './limit.js'
import { delayAfter, reasonOf, sleep } from './retries.js'
import type { Settings } from '../settings.js'

/** Options of every call. */
export type CallOptions = {
  /** Aborts the call, which rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
  /** Timeout of each attempt in milliseconds. */
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
}

/** Options of calls that change something. */
export type WriteOptions = CallOptions & {
  /** Default: a random key. Your own key, such as an order id, also protects against restarts of your program. */
  idempotencyKey?: string | undefined
}

export type QueryValue = string | number | boolean | Date | readonly string[] | undefined
export type Query = Record<string, QueryValue>

export type ClientCall = {
  method: 'GET' | 'POST'
  /** Path below the origin, with `/v1`. */
  path: string
  query?: Query | undefined
  /** JSON body. */
  text?: string | undefined
  headers?: Record<string, string>
  options?: CallOptions | undefined
  idempotencyKey?: string | undefined
}

export type Transport = {
  /** Makes a call, with retries. @throws {StewardError} */
  send<Body>(call: ClientCall): Promise<ParsedResponse<Body>>
  /** Makes one attempt without reading the body. @throws {ConnectionError} or the reason of the signal. */
  open(call: ClientCall, signal: AbortSignal | undefined): Promise<Response>
}

export function createTransport(settings: Settings): Transport {
  const { maxRetries, hooks } = settings
  const open = (call: ClientCall, signal: AbortSignal | undefined) =>
    request(settings, call, { attempt: 1, signal })
  return {
    open,
    async send<Body>(call: ClientCall) {
      const { signal, maxRetries: retries = maxRetries } = call.options ?? {}
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await tryOnce<Body>(settings, call, attempt)
        } catch (error) {
          const waitMs = attempt > retries ? undefined : delayAfter(error, attempt)
          if (waitMs === undefined) throw error
          const { method, path } = call
          callHook(hooks.onRetry, { method, path, attempt, error: error as Error, waitMs })
          await sleep(waitMs, signal)
        }
      }
    },
  }
}

async function tryOnce<Body>(settings: Settings, call: ClientCall, attempt: number) {
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
  call: ClientCall,
  { attempt, signal }: Try,
): Promise<Response> {
  const { method, path, query = {}, text } = call
  assertIds(path)
  const facts = { method, path, attempt }
  const begun = Date.now()
  callHook(hooks.onRequest, facts)
  const response = await fetch(`${origin}${path}${toSearch(query)}`, {
    method,
    headers: toHeaders(settings, call),
    ...(text !== undefined && { body: text }),
    // A redirect could turn the POST into a GET and send the key to another server.
    redirect: 'manual',
    ...(signal && { signal }),
  })
  const { status, headers } = response
  const requestId = headers.get('x-request-id') ?? undefined
  callHook(hooks.onResponse, { ...facts, status, ms: Date.now() - begun, requestId })
  return response
}

/** An empty segment of a path, `.` or `..`: the URL would name another endpoint. */
const noId = /\/\.{0,2}(?=[/?]|$)/

/** @throws {StewardError} INVALID_ID, before anything is sent. */
function assertIds(path: string): void {
  if (!noId.test(path)) return
  const message = 'An id must not be empty, "." or "..". Pass the id that the service returned.'
  throw new StewardError({ code: 'INVALID_ID', message })
}

type Credentials = Pick<Settings, 'apiKey' | 'isBrowser'>

const toHeaders = (
  { apiKey, isBrowser }: Credentials,
  call: ClientCall,
): Record<string, string> => ({
  authorization: `Bearer ${apiKey}`,
  // An extra header would cause a preflight request in browsers.
  ...(!isBrowser && { 'user-agent': 'steward-sdk-typescript/0.3.0' }),
  ...(call.text !== undefined && { 'content-type': 'application/json' }),
  ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
  ...call.headers,
})

const timedOut = (timeoutMs: number) =>
  new TimeoutError({ code: 'TIMEOUT', message: `No response within ${timeoutMs} ms.` })

/** Any failure of `fetch` means that the response is incomplete. */
export const toKnown = (cause: unknown): StewardError =>
  cause instanceof StewardError
    ? cause
    : new ConnectionError({ code: 'CONNECTION', message: 'The service cannot be reached.', cause })

function withKey(error: StewardError, { idempotencyKey }: ClientCall): StewardError {
  return idempotencyKey === undefined ? error : Object.assign(error, { idempotencyKey })
}

/** The query string. Lists are comma-separated. */
function toSearch(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    search.set(name, value instanceof Date ? value.toISOString() : String(value))
  }
  const text = search.toString()
  return text && `?${text}`
}

function callHook<Facts>(hook: ((facts: Facts) => void) | undefined, facts: Facts): void {
  try {
    hook?.(facts)
  } catch {
    // A failing hook must not change the call.
  }
}
