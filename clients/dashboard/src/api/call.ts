import { recordOwnWrite } from './ownWrites.js'

/** An error response of the API. */
export class ApiFailure extends Error {
  readonly status: number
  /** An error code of the API such as `INTENT_NOT_FOUND`, or `OFFLINE` without a response. */
  readonly code: string
  readonly requestId: string | undefined
  readonly details: Record<string, unknown>

  constructor(status: number, body: FailureBody) {
    super(body.message ?? 'The response is not readable. Try again.')
    this.status = status
    this.code = body.error ?? 'UNREADABLE'
    this.details = body.details ?? {}
    const { requestId } = this.details
    this.requestId = typeof requestId === 'string' ? requestId : undefined
  }
}

type FailureBody = { error?: string; message?: string; details?: Record<string, unknown> }
export type QueryParams = Record<string, string | number | undefined>

const BASE = '/dashboard/api'

/**
 * Reads from the API with the session of the signed-in user.
 *
 * @throws {ApiFailure} without a 2xx response.
 */
export const get = <T>(path: string, query: QueryParams = {}) =>
  send<T>('GET', `${path}${queryText(query)}`)

/**
 * Writes to the API with the session of the signed-in user. Lists show the written resource at once.
 *
 * @param key - Idempotency key: a repeated call with the same key is executed once.
 */
export async function post<T>(path: string, body: unknown = {}, key?: string): Promise<T> {
  const written = await send<T>('POST', path, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
  })
  const { id } = written as { id?: unknown }
  if (typeof id === 'string') recordOwnWrite(id)
  return written
}

/** The query string with its question mark. Empty and undefined values are skipped. */
export function queryText(query: QueryParams): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  )
  return entries.length > 0 ? `?${new URLSearchParams(entries).toString()}` : ''
}

async function send<T>(method: string, path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(`${BASE}${path}`, { method, ...init }).catch(() => undefined)
  if (!response) {
    throw new ApiFailure(0, {
      error: 'OFFLINE',
      message: 'The service does not answer. Try again.',
    })
  }
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok) return body as T
  throw new ApiFailure(response.status, body ?? {})
}

/** True when the API rejected the call itself: a repeated call fails again. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApiFailure && error.status >= 400 && error.status < 500

export const isFailure = (error: unknown, code: string): boolean =>
  error instanceof ApiFailure && error.code === code
