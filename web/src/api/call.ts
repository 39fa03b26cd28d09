/** What the API answers with instead of a result. */
export class ApiFailure extends Error {
  readonly status: number
  /** `INTENT_NOT_FOUND` and the like; `OFFLINE` when no answer came at all. */
  readonly code: string
  readonly requestId: string | undefined
  readonly details: Record<string, unknown>

  constructor(status: number, body: FailureBody) {
    super(body.message ?? 'The answer could not be read.')
    this.status = status
    this.code = body.error ?? 'UNREADABLE'
    this.details = body.details ?? {}
    const { requestId } = this.details
    this.requestId = typeof requestId === 'string' ? requestId : undefined
  }
}

type FailureBody = { error?: string; message?: string; details?: Record<string, unknown> }
export type Query = Record<string, string | number | undefined>

const BASE = '/dashboard/api'

/**
 * Asks the API, as whoever is signed in.
 *
 * @throws {ApiFailure} whatever is no 2xx, also when nothing answers.
 */
export const get = <T>(path: string, query: Query = {}) =>
  send<T>('GET', `${path}${queryText(query)}`)

/**
 * Has the API do something.
 *
 * @param key - Names the wish: sent twice it is done once.
 */
export const post = <T>(path: string, body: unknown = {}, key?: string) =>
  send<T>('POST', path, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
  })

/** What stands behind a path: the question mark and whatever is named. */
export function queryText(query: Query): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  )
  return entries.length > 0 ? `?${new URLSearchParams(entries).toString()}` : ''
}

async function send<T>(method: string, path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(`${BASE}${path}`, { method, ...init }).catch(() => undefined)
  if (!response) {
    throw new ApiFailure(0, { error: 'OFFLINE', message: 'The service does not answer.' })
  }
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok) return body as T
  throw new ApiFailure(response.status, body ?? {})
}

export const isFailure = (error: unknown, code: string): boolean =>
  error instanceof ApiFailure && error.code === code
