import type { Chains } from '../chains/connect.js'
import type { Chain } from '../chains/registry.js'
import type { BridgeRoute } from '../domain/plan/market.js'
import type { Attestations, BridgeFee } from '../protocols/bridges/cctp/attestations.js'

/** Fees change rarely: many plans share one answer this long. */
const FEES_TTL_MS = 60_000
/** A service that does not answer holds up one plan, not each that comes while it is silent. */
const SILENCE_TTL_MS = 5_000
/** @see https://developers.circle.com/cctp: 10 million USDC per burn */
const MAX_BURN_UNITS = 10_000_000_000_000n

type Asked = { fees: Promise<BridgeFee[]>; until: number }
const known = new WeakMap<Attestations, Map<string, Asked>>()

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

function readFees(
  attestations: Attestations,
  source: number,
  destination: number,
): Promise<BridgeFee[]> {
  const shared = known.get(attestations) ?? new Map<string, Asked>()
  known.set(attestations, shared)
  const pair = `${source}/${destination}`
  const before = shared.get(pair)
  if (before && Date.now() < before.until) return before.fees
  const fees = attestations.readFees(source, destination)
  const asked: Asked = { fees, until: Date.now() + FEES_TTL_MS }
  shared.set(pair, asked)
  fees.catch(() => {
    asked.until = Date.now() + SILENCE_TTL_MS
  })
  return fees
}
