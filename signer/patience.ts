import { atMost } from '../timeout.js'

/**
 * For so long a bundle waits for its state of the chain, for the slowest of its operations, and an operation for a
 * second opinion. Within a lease (10 s): the state, 5 s to prepare, and an opinion.
 */
export const PATIENCE_MS = 2_000

/** `late`: what was not ready in time, once all of it is; absent where nothing is late. */
export type Prompt<R> = { ready: R[]; late?: Promise<R[]> }

/**
 * Prepares operations side by side. One that is slow holds up none but those of its own wallet, whose order is kept.
 *
 * @param prepare - Undefined for what is not to be signed. Must not throw.
 * @param patienceMs - For so long those that are ready wait for the others.
 */
export async function prepareTogether<T extends { walletId: string }, R>(
  items: T[],
  prepare: (item: T) => Promise<R | undefined>,
  patienceMs = PATIENCE_MS,
): Promise<Prompt<R>> {
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
