import { hash, verify } from '@node-rs/argon2'
import { createLimiter, type Limits } from '../../../runtime/limiter.js'
import { ServiceError } from '../../../domain/errors.js'

/**
 * Argon2id with 19 MiB, two passes and a parallelism of one.
 *
 * @see https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
 */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Each hash takes 19 MiB and one of the four libuv threads, which also resolve names and read files. */
const AT_ONCE = { atOnce: 2, patienceMs: 2_000 }

/** Compared when a user has no password, so that the time taken does not reveal it. */
const DUMMY_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$BABR7T0KJxgRBYTbicUS6A$RpwAyW3QkaX80xVUx+8QNgQDZbA/iyfK34bZPaTg5jg'

/** The same text for all ways to type it. */
const plain = (password: string) => password.normalize('NFKC')

/**
 * Hashes passwords outside the event loop, at most two at a time.
 *
 * @param cost - Cost of new hashes. Stored hashes contain their own.
 */
export function createPasswords(limits: Limits = AT_ONCE, cost = COST) {
  const limit = createLimiter(
    limits,
    () => new ServiceError('UNAVAILABLE', 'Too many sign-ins at once. Try again.'),
  )

  return {
    /** @returns A PHC string with algorithm, cost and salt. */
    hash: (password: string): Promise<string> => limit('', () => hash(plain(password), cost)),
    /**
     * Compares a password. Without a stored hash the result is false, in the same time.
     *
     * @throws {ServiceError} UNAVAILABLE when too many comparisons wait.
     */
    matches: async (password: string, stored: string | null): Promise<boolean> => {
      const isSame = await limit('', () => verify(stored ?? DUMMY_HASH, plain(password)))
      return isSame && stored !== null
    },
  }
}

export type Passwords = ReturnType<typeof createPasswords>
