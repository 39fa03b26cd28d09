import { hash, verify } from '@node-rs/argon2'
import { createLimiter, type Limits } from '../../../limiter.js'
import { ServiceError } from '../../../domain/errors.js'

/**
 * Argon2id with 19 MiB, two passes and one lane.
 *
 * @see https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
 */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Each takes 19 MiB and a thread of the four that also resolve names and read files. */
const AT_ONCE = { atOnce: 2, patienceMs: 2_000 }

/** What is compared where there is no password: nobody's, and as dear as anybody's. */
const NOBODY =
  '$argon2id$v=19$m=19456,t=2,p=1$BABR7T0KJxgRBYTbicUS6A$RpwAyW3QkaX80xVUx+8QNgQDZbA/iyfK34bZPaTg5jg'

/** The same text, however a keyboard composes it. */
const plain = (password: string) => password.normalize('NFKC')

/**
 * Hashes passwords beside the event loop, a few at a time.
 *
 * @param cost - Of new hashes. Those that are stored tell their own.
 */
export function createPasswords(limits: Limits = AT_ONCE, cost = COST) {
  const limit = createLimiter(
    limits,
    () => new ServiceError('UNAVAILABLE', 'Too many are signing in at once. Try again.'),
  )

  return {
    /** @returns A PHC string with algorithm, cost and salt. */
    hash: (password: string): Promise<string> => limit('', () => hash(plain(password), cost)),
    /**
     * Compares, and takes as long where there is nothing to compare with: false then.
     *
     * @throws {ServiceError} UNAVAILABLE when too many sign in at once.
     */
    matches: async (password: string, stored: string | null): Promise<boolean> => {
      const isSame = await limit('', () => verify(stored ?? NOBODY, plain(password)))
      return isSame && stored !== null
    },
  }
}

export type Passwords = ReturnType<typeof createPasswords>
