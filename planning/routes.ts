import type { PairFees } from '../db/bridgeFees.js'
import { bridgeOf } from '../protocols/bridges/bridges.js'
import { disabledBecause, type ChainClient } from '../chains/connect.js'
import type { Chain } from '../chains/registry.js'
import type { IntentRequest } from '../domain/intent.js'
import type { BridgeRoute } from '../domain/plan/market.js'

/** The ways over bridges; `unread`: pairs of chains of which no service has ever said anything. */
export type Routes = { routes: BridgeRoute[]; unread: Pair[] }
type Pair = { from: string; to: string }

/**
 * The ways over bridges, the fast one of each pair of chains first, as their services described them last.
 * That may be long ago: while a service is silent, plans are made with what is known.
 *
 * @param known - Absent: none is needed.
 */
export function routesOver(list: ChainClient[], known?: PairFees[]): Routes {
  if (!known) return { routes: [], unread: [] }
  const pairs = list.flatMap((from) => list.filter((to) => to !== from).map((to) => ({ from, to })))
  const open = pairs.filter(({ from, to }) => whyNoBridge(from, to) === undefined)
  const routes: BridgeRoute[] = []
  const unread: Pair[] = []
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

/** True when a way that nobody knows of yet might be what a request needs. */
export function mayNeedUnread(request: IntentRequest, unread: Pair[]): boolean {
  switch (request.action) {
    case 'lend':
      return unread.some(({ to }) => request.chain === undefined || request.chain === to)
    case 'bridge':
      return unread.some(({ from, to }) => request.fromChain === from && request.toChain === to)
    case 'withdraw':
      return false
  }
}

/** Why nothing goes over the bridge from one chain to another, undefined when it does. */
export function whyNoBridge(from: ChainClient, to: ChainClient): string | undefined {
  const there = disabledBecause(from, `bridge:${to.chain.name}`)
  return there ?? disabledBecause(to, 'bridge')
}
