import { disabledBecause, type ChainClient, type Chains } from '../chains/connect.js'
import type { BridgeRoute } from '../domain/plan/market.js'
import type { Attestations } from '../protocols/bridges/bridge.js'

/**
 * The ways over the bridge, the fast one of each pair of chains first. A pair of which the service says
 * nothing now has none.
 */
export async function readRoutes(
  { list }: Chains,
  { readRoutes: readPair }: Attestations,
): Promise<BridgeRoute[]> {
  const pairs = list.flatMap((from) => list.filter((to) => to !== from).map((to) => ({ from, to })))
  const open = pairs.filter(({ from, to }) => whyNoBridge(from, to) === undefined)
  const routes = await Promise.all(
    open.map(({ from, to }) => readPair(from.chain, to.chain).catch(() => [])),
  )
  return routes.flat()
}

/** Why nothing goes over the bridge from one chain to another, undefined when it does. */
export function whyNoBridge(from: ChainClient, to: ChainClient): string | undefined {
  const there = disabledBecause(from, `bridge:${to.chain.name}`)
  return there ?? disabledBecause(to, 'bridge')
}
