import type { Chains } from '../chains/connect.js'
import type { Chain } from '../chains/registry.js'
import type { BridgeRoute } from '../domain/market.js'
import type { Attestations, BridgeFee } from '../protocols/attestations.js'

/** Fees change rarely: many plans share one answer this long. */
const FEES_TTL_MS = 60_000
/** @see https://developers.circle.com/cctp: 10 million USDC per burn */
const MAX_BURN_UNITS = 10_000_000_000_000n

const known = new WeakMap<Attestations, Map<string, { fees: BridgeFee[]; askedAt: number }>>()

/**
 * The ways over the bridge, the fast one of each pair of chains first. A pair of which the service says
 * nothing now has none.
 */
export async function readRoutes(
  { list }: Chains,
  attestations: Attestations,
): Promise<BridgeRoute[]> {
  const pairs = list.flatMap((from) => list.filter((to) => to !== from).map((to) => ({ from, to })))
  const routes = await Promise.all(
    pairs.map(({ from, to }) => readPair(attestations, from.chain, to.chain).catch(() => [])),
  )
  return routes.flat()
}

async function readPair(
  attestations: Attestations,
  from: Chain,
  to: Chain,
): Promise<BridgeRoute[]> {
  const fees = await readFees(attestations, from.cctp.domain, to.cctp.domain)
  return fees.map(({ speed, feeMillionths }) => ({
    from: from.name,
    to: to.name,
    speed,
    feeMillionths,
    maxUnits: MAX_BURN_UNITS,
    seconds: from.cctp.seconds[speed],
  }))
}

async function readFees(
  attestations: Attestations,
  source: number,
  destination: number,
): Promise<BridgeFee[]> {
  const shared =
    known.get(attestations) ?? new Map<string, { fees: BridgeFee[]; askedAt: number }>()
  known.set(attestations, shared)
  const pair = `${source}/${destination}`
  const fresh = shared.get(pair)
  if (fresh && Date.now() - fresh.askedAt < FEES_TTL_MS) return fresh.fees
  const fees = await attestations.readFees(source, destination)
  shared.set(pair, { fees, askedAt: Date.now() })
  return fees
}
