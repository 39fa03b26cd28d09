import { ServiceError } from '../domain/errors.js'
import type { ChainClient } from './connect.js'

/** What chains said, in their order, and the names of those that did not answer. */
export type Answers<T> = { answers: T[]; unavailable: string[] }

/**
 * Asks chains the same thing at once. One that does not answer does not hold back what the others say.
 *
 * @throws {ServiceError} UNAVAILABLE when none of them answers.
 */
export async function askChains<T>(
  clients: ChainClient[],
  ask: (client: ChainClient) => Promise<T>,
): Promise<Answers<T>> {
  const asked = await Promise.allSettled(clients.map(ask))
  const answers = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  // Also an answer that cannot be decoded: a node that is not in sync has no contracts.
  const unavailable = clients
    .filter((_client, i) => asked[i]?.status === 'rejected')
    .map(({ chain }) => chain.name)
  if (unavailable.length === 0 || answers.length > 0) return { answers, unavailable }
  throw new ServiceError('UNAVAILABLE', `No answer from ${unavailable.join(', ')}. Try again.`)
}

/** The additive field that names silent chains; absent when all have answered. */
export const unavailableField = (unavailable: string[]) =>
  unavailable.length > 0 ? { unavailable } : {}
