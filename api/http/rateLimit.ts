import type { Response } from 'express'
import { ServiceError } from '../../domain/errors.js'

/** Requests that a caller may send in a clock minute, and has sent. */
export type RateLimit = {
  limit: number
  used: number
  /** Unix time in seconds at which the window ends. */
  resetAt: number
  /** Seconds until then. At least 1. */
  retryAfter: number
}

type WindowState = Pick<RateLimit, 'limit' | 'used' | 'resetAt'>

/** Rate-limit headers of every response. */
export const rateLimitHeaders = ({ limit, used, resetAt }: WindowState) => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(Math.max(0, limit - used)),
  'X-RateLimit-Reset': String(resetAt),
})

export function setRateLimitHeaders(response: Response, window: WindowState): void {
  for (const [name, value] of Object.entries(rateLimitHeaders(window)))
    response.setHeader(name, value)
}

export function rateLimited({ limit, retryAfter }: RateLimit): ServiceError {
  const message = `More than ${limit} requests in a minute. Try again in ${retryAfter} s.`
  return new ServiceError('RATE_LIMITED', message, { limit, window: '1 minute', retryAfter })
}
