import type { PairFees } from '../db/bridgeFees.js'
import { bridgeOf } from '../evm/bridges/bridges.js'
import { disabledBecause, type ChainClient } from '../evm/connect.js'
import type { Chain } from '../evm/registry.js'
import type { IntentRequest } from '../domain/intent/intent.js'
import type { BridgeRoute } from '../domain/plan/market.js'

/** Bridge routes. `unread`: pairs of chains whose fees were never reported. */
export type Routes = { routes: BridgeRoute[]; unread: ChainPair[] }
type ChainPair = { from: string; to: string }

/**
 * Bridge routes with their latest reported fees, the fast one of each pair of chains first. The fees may be old: while
 * a bridge service is unresponsive, plans use the last known ones.
 *
 * @param known - Absent: no routes are needed.
 */
export function routesOver(list: ChainClient[], known?: PairFees[]): Routes {
  if (!known) return { routes: [], unread: [] }
  const pairs = list.flatMap((from) => list.filter((to) => to !== from).map((to) => ({ from, to })))
  const open = pairs.filter(({ from, to }) => whyNoBridge(from, to) === undefined)
  const routes: BridgeRoute[] = []
  const unread: ChainPair[] = []
  for (const [from, to] of open.map((pair) => [pair.from.chain, pair.to.chain] as const)) {
    const fees = known.filter((one) => one.from === from.name && one.to === to.name)
    if (fees.length === 0) unread.push({ from: from.name, to: to.name })
    routes.push(...fees.flatMap((one) => routesOf(from, one)))
  }
  return { routes, unread }
}

function routesOf(source: Chain, { protocol, from, to, ...fees }: PairFees): BridgeRoute[] {
  const bridge = bridgeOf(protocol)
  const offered = [
    ['fast', fees.fastMillionths] as const,
    ['standard', fees.standardMillionths] as const,
  ]
  return offered.flatMap(([speed, feeMillionths]) => {
    if (feeMillionths === null) return []
    const seconds = bridge.usualSeconds(source, speed)
    return [{ protocol, from, to, speed, feeMillionths, maxUnits: bridge.maxUnits, seconds }]
  })
}

/** True when a route without known fees might serve the request. */
export function mayNeedUnread(request: IntentRequest, unread: ChainPair[]): boolean {
  switch (request.action) {
    case 'lend':
      return unread.some(({ to }) => request.chain === undefined || request.chain === to)
    case 'bridge':
      return unread.some(({ from, to }) => request.fromChain === from && request.toChain === to)
    case 'withdraw':
      return false
  }
}

/** Why the bridge from one chain to another is disabled. Undefined when it is enabled. */
export function whyNoBridge(from: ChainClient, to: ChainClient): string | undefined {
  const there = disabledBecause(from, `bridge:${to.chain.name}`)
  return there ?? disabledBecause(to, 'bridge')
}
