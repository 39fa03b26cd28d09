import { readRates } from './markets.js'
import type { ChainClient } from '../../chains/connect.js'
import type { Rate } from '../../domain/yields.js'

/** Rates move with each deposit of anybody, but by little: many readers share one answer this long. */
const SHARED_MS = 5_000

const shared = new WeakMap<ChainClient, { rates: Promise<Rate[]>; askedAt: number }>()

/** The rates of a chain, at most five seconds old. However many ask, the chain is asked once. */
export async function readSharedRates(client: ChainClient): Promise<Rate[]> {
  const known = shared.get(client)
  if (known && Date.now() - known.askedAt < SHARED_MS) return known.rates
  const entry = { rates: readRates(client), askedAt: Date.now() }
  shared.set(client, entry)
  try {
    return await entry.rates
  } catch (error) {
    // A failure is told to those who wait for it, not to those who come later.
    if (shared.get(client) === entry) shared.delete(client)
    throw error
  }
}
