import type { Response } from 'express'
import { ServiceError } from '../../domain/errors.js'

/** How many requests a caller may send in a clock minute, and has sent. */
export type Window = {
  limit: number
  used: number
  /** Unix time in seconds at which the window ends. */
  resetAt: number
  /** Seconds until then. At least 1. */
  retryAfter: number
}

type Told = Pick<Window, 'limit' | 'used' | 'resetAt'>

/** The headers by which every answer tells its caller's window. */
export const windowHeaders = ({ limit, used, resetAt }: Told) => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(Math.max(0, limit - used)),
  'X-RateLimit-Reset': String(resetAt),
})

export function setWindow(response: Response, window: Told): void {
  for (const [name, value] of Object.entries(windowHeaders(window))) response.setHeader(name, value)
}

export function rateLimited({ limit, retryAfter }: Window): ServiceError {
  const message = `More than ${limit} requests in a minute. Try again in ${retryAfter} s.`
  return new ServiceError('RATE_LIMITED', message, { limit, window: '1 minute', retryAfter })
}
