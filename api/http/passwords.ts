import { hash, verify } from '@node-rs/argon2'
import { ServiceError } from '../../domain/errors.js'

/**
 * Argon2id with 19 MiB, two passes and one lane.
 *
 * @see https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Each takes 19 MiB and a thread of the four that also resolve names and read files. */
const AT_ONCE = 2
/** About a second's work. */
const MOST_WAITING = 40

/** What is compared where there is no password: nobody's, and as dear as anybody's. */
const NOBODY =
  '$argon2id$v=19$m=19456,t=2,p=1$BABR7T0KJxgRBYTbicUS6A$RpwAyW3QkaX80xVUx+8QNgQDZbA/iyfK34bZPaTg5jg'

/** The same text, however a keyboard composes it. */
const plain = (password: string) => password.normalize('NFKC')

/** Hashes passwords beside the event loop, a few at a time. */
export function createPasswords() {
  let running = 0
  const waiting: (() => void)[] = []

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) {
      if (waiting.length >= MOST_WAITING) {
        throw new ServiceError('UNAVAILABLE', 'Too many are signing in at once. Try again.')
      }
      // Whoever ends hands his place over, so that nobody comes in between.
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }

  return {
    /** @returns A PHC string with algorithm, cost and salt. */
    hash: (password: string): Promise<string> => inTurn(() => hash(plain(password), cost)),
    /**
     * Compares, and takes as long where there is nothing to compare with: false then.
     *
     * @throws {ServiceError} UNAVAILABLE when too many wait already.
     */
    matches: async (password: string, stored: string | null): Promise<boolean> => {
      const isSame = await inTurn(() => verify(stored ?? NOBODY, plain(password)))
      return isSame && stored !== null
    },
  }
}

export type Passwords = ReturnType<typeof createPasswords>
