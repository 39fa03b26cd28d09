import { backoffMs, MINUTE_MS } from '../../runtime/durations.js'
import { isExpired } from '../../evm/bridges/bridge.js'
import type { Chain } from '../../evm/registry.js'
import type { OpenBurn } from '../../operations/burns.js'
import type { AttesterTools, BurnSchedule, UnattestedBurn } from './attesterTools.js'

const LONGEST_PAUSE_MS = 15 * MINUTE_MS
/** Delay between two requests as a share of the burn's age, so that detection adds 5 % at most. */
const PAUSE_SHARE = 1 / 20

/** Burns of one transaction share a request. */
export function groupByTransaction(burns: OpenBurn[]): Map<string, OpenBurn[]> {
  const found = new Map<string, OpenBurn[]>()
  for (const burn of burns) {
    const key = `${burn.sourceDomain}/${burn.txHash}`
    found.set(key, [...(found.get(key) ?? []), burn])
  }
  return found
}

/** The schedule of a transaction. The first request is due when an attestation can exist at the earliest. */
export function scheduleOf(tools: AttesterTools, key: string, burns: OpenBurn[]): BurnSchedule {
  const known = tools.schedules.get(key)
  if (known) return known
  const firsts = burns.map((burn) => (routeOf(tools, burn)?.usualMs ?? 0) - ageMs(burn))
  const schedule = { nextAt: Date.now() + Math.min(...firsts), renewals: 0 }
  tools.schedules.set(key, schedule)
  return schedule
}

const ageMs = ({ burnedAt }: OpenBurn) => (burnedAt ? Date.now() - burnedAt.getTime() : 0)

/** Destination of a burn and its usual attestation time; undefined between chains of another deployment. */
function routeOf(
  { chains, attestations: { bridge } }: AttesterTools,
  { chainId, sent }: OpenBurn,
): { destination: Chain; usualMs: number } | undefined {
  const list = chains.list.map(({ chain }) => chain)
  const source = list.find((chain) => chain.chainId === Number(chainId))
  const destination = list.find((chain) => bridge.leadsTo(chain, sent))
  if (!source || !destination) return undefined
  const [usualSeconds] = bridge.usualSeconds(source, bridge.readMessage(sent).speed)
  return { destination, usualMs: 1_000 * usualSeconds }
}

/** The burn, if it needs a message or a new one; else nothing. */
export function needOf(tools: AttesterTools, burn: OpenBurn): UnattestedBurn[] {
  const route = routeOf(tools, burn)
  if (!route) return []
  if (burn.message === null) return [{ ...burn, hasExpired: false }]
  const attested = tools.attestations.bridge.readMessage(burn.message)
  // Without an expiration the chain is not read. With an unknown block the message counts as valid.
  const hasExpired =
    attested.expirationBlock !== 0n &&
    isExpired(attested, tools.contractBlock(route.destination.chainId) ?? 0n)
  return hasExpired || burn.isRefused ? [{ ...burn, hasExpired }] : []
}

/**
 * Milliseconds until the next check of a burn. They grow with its age, or with the expiries of its message. A bridge
 * that is usually faster than the shortest delay sets the minimum itself.
 */
export function delayOf(tools: AttesterTools, burn: OpenBurn, renewals: number): number {
  const { shortestMs, retryMs } = tools.delays
  const shortest = Math.min(routeOf(tools, burn)?.usualMs ?? Infinity, shortestMs)
  if (burn.message !== null && !burn.isRefused)
    return renewals > 0 ? backoffMs(renewals, retryMs) : shortest
  return Math.min(Math.max(ageMs(burn) * PAUSE_SHARE, shortest), LONGEST_PAUSE_MS)
}
