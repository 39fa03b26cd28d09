import { isValidCredential } from '../../../db/accounts/sessionValidity.js'
import { addressOf } from './browser.js'
import { rateLimited, setRateLimitHeaders } from '../rateLimit.js'
import type { RequestContext } from './authScheme.js'

/**
 * Applies the limit of failures by address. A valid credential always passes: many callers may share an address, and
 * one of them must not lock out the others. A revoked one is refused like any unknown one.
 *
 * @param digest - SHA-256 of the credential. Undefined when it is missing or malformed.
 * @throws {ServiceError} RATE_LIMITED.
 */
export async function guardAddress(
  { services, request, response }: RequestContext,
  digest: Buffer | undefined,
): Promise<void> {
  const { db, authFailures } = services
  const window = authFailures.peek(addressOf(services, request))
  setRateLimitHeaders(response, window)
  if (window.used < window.limit) return
  if (digest && (await isValidCredential(db, digest))) return
  throw rateLimited(window)
}

/** Counts a request whose credential is not valid. */
export function countFailure({ services, request, response }: RequestContext): void {
  setRateLimitHeaders(response, services.authFailures.count(addressOf(services, request)))
}
