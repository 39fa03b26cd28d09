import { ServiceError } from '../../domain/errors.js'
import type { ChainClient } from '../connect.js'

/** The answers of chains in their order, and the names of chains without an answer. */
export type Answers<T> = { answers: T[]; unavailable: string[] }

/**
 * Runs the same request on several chains concurrently. A chain without an answer does not delay the others' answers.
 *
 * @throws {ServiceError} UNAVAILABLE when no chain answers.
 */
export async function askChains<T>(
  clients: ChainClient[],
  ask: (client: ChainClient) => Promise<T>,
): Promise<Answers<T>> {
  const asked = await Promise.allSettled(clients.map(ask))
  const answers = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  // Undecodable answers count too: a node that is out of sync has no contracts.
  const unavailable = clients
    .filter((_client, i) => asked[i]?.status === 'rejected')
    .map(({ chain }) => chain.name)
  if (unavailable.length === 0 || answers.length > 0) return { answers, unavailable }
  throw new ServiceError('UNAVAILABLE', `No answer from ${unavailable.join(', ')}. Try again.`)
}

/** The additive field with the names of unavailable chains; absent when all have answered. */
export const unavailableField = (unavailable: string[]) =>
  unavailable.length > 0 ? { unavailable } : {}
