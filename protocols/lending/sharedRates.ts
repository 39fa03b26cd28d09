import { share } from '../../share.js'
import type { ChainClient } from '../../chains/connect.js'
import { readRates } from './markets.js'

/** Rates move with each deposit of anybody, but by little: many readers share one answer this long. */
const RATES_TTL_MS = 5_000

/** The rates of a chain, at most five seconds old. However many ask, the chain is asked once. */
export const readSharedRates = share((client: ChainClient) => readRates(client), {
  ttlMs: RATES_TTL_MS,
})
