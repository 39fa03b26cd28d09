import { atMost } from '../runtime/timeout.js'

/**
 * Wait limit of a bundle for the chain state and for its slowest operation, and of an operation for the confirmation
 * of a refusal. The three fit into a lease (10 s): chain state, 5 s to prepare, confirmation.
 */
export const PREPARE_WAIT_MS = 2_000

/** `late`: the results that were not ready in time, once all of them are; absent when all were ready. */
export type PreparedInTime<R> = { ready: R[]; late?: Promise<R[]> }

/**
 * Prepares operations concurrently. A slow one delays only the other operations of its wallet, which keep their order.
 *
 * @param prepare - Returns undefined for an operation that is not signed. Must not throw.
 * @param patienceMs - How long ready operations wait for the others.
 */
export async function prepareTogether<T extends { walletId: string }, R>(
  items: T[],
  prepare: (item: T) => Promise<R | undefined>,
  patienceMs = PREPARE_WAIT_MS,
): Promise<PreparedInTime<R>> {
  const results = new Map<T, R | undefined>()
  const all = Promise.all(items.map(async (item) => results.set(item, await prepare(item))))
  const resultsOf = (some: T[]) =>
    some.map((item) => results.get(item)).filter((result) => result !== undefined)
  await atMost(all, patienceMs)
  const slow = items.filter((item) => !results.has(item)).map(({ walletId }) => walletId)
  const isLate = ({ walletId }: T) => slow.includes(walletId)
  const ready = resultsOf(items.filter((item) => !isLate(item)))
  if (slow.length === 0) return { ready }
  return { ready, late: all.then(() => resultsOf(items.filter(isLate))) }
}
