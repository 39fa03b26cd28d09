import { z } from 'zod'
import { share } from '../../../share.js'
import { speedOf } from './speed.js'
import type { Chain } from '../../../chains/registry.js'
import type { BridgeRoute } from '../../../domain/plan/market.js'

/** Fees change rarely: many plans share one answer this long. */
const FEES_TTL_MS = 60_000
/** A service that does not answer holds up one plan, not each that comes while it is silent. */
const SILENCE_TTL_MS = 5_000
/** @see https://developers.circle.com/cctp: 10 million USDC per burn */
const MAX_BURN_UNITS = 10_000_000_000_000n

/** `minimumFee` is in basis points, and may be a fraction of one. */
const fees = z
  .array(
    z.object({
      finalityThreshold: z.coerce.number(),
      minimumFee: z.coerce.number().min(0).max(1_000),
    }),
  )
  .max(20)
type Fees = z.infer<typeof fees>

/** Asks the service; undefined when it knows nothing of this. */
type Ask = (path: string, schema: typeof fees) => Promise<Fees | undefined>

/** A reader of the ways from one chain to another, the fast one first; none of which nothing is known. */
export function createRouteReader(ask: Ask) {
  const readFees = share((path: string) => ask(path, fees), {
    ttlMs: FEES_TTL_MS,
    failureTtlMs: SILENCE_TTL_MS,
  })
  return async (from: Chain, to: Chain): Promise<BridgeRoute[]> => {
    const answer = await readFees(`/v2/burn/USDC/fees/${from.cctp.domain}/${to.cctp.domain}`)
    return (answer ?? [])
      .toSorted((a, b) => a.finalityThreshold - b.finalityThreshold)
      .map(({ finalityThreshold, minimumFee }) => {
        const speed = speedOf(finalityThreshold)
        return {
          protocol: 'cctp',
          from: from.name,
          to: to.name,
          speed,
          feeMillionths: BigInt(Math.ceil(minimumFee * 100)),
          maxUnits: MAX_BURN_UNITS,
          seconds: from.cctp.seconds[speed],
        }
      })
  }
}
