/**
 * A capability of the service on a chain. Each can fail separately.
 * - `node`: reading the chain. `chain`: signing for it.
 * - `market:` and `lending:`, with the address of a market: withdrawals from it and deposits into it.
 * - `bridge:`, with the name of the destination chain.
 * - `candidate:`, with the address of a market: it may not be there. With a finding it is not offered.
 * - `signing`: paused by an operator. Planned intents wait.
 * - `endpoint`, one of several RPC endpoints, and `gas`, the balance of a sender. A failure disables nothing: the
 *   other endpoints serve, and operations wait for gas.
 */
export type Capability =
  | 'endpoint'
  | 'node'
  | 'chain'
  | 'bridge'
  | 'swaps'
  | 'prices'
  | 'funding'
  | 'gas'
  | 'signing'
  | `bridge:${string}`
  | `market:${string}`
  | `lending:${string}`
  | `candidate:${string}`

/** Result of a check of a chain. A failed check disables its capability. `detail` is a clause. */
export type Finding = {
  chain: string
  check: string
  capability: Capability
  outcome: 'ok' | 'warning' | 'failed'
  detail: string
}

/** The capability and its requirements, the broadest last. */
function restsOn(capability: Capability): Capability[] {
  const [kind, place] = capability.split(':')
  if (capability === 'node' || capability === 'endpoint') return [capability]
  if (capability === 'chain') return ['chain', 'node']
  if (kind === 'lending') return [capability, `market:${place}`, 'chain', 'node']
  if (kind === 'bridge' && place) return [capability, 'bridge', 'chain', 'node']
  return [capability, 'chain', 'node']
}

/** Why a capability is disabled, as a clause that ends a sentence. Undefined when it is enabled. */
export function whyNot(findings: readonly Finding[], capability: Capability): string | undefined {
  const reasons = restsOn(capability)
  const failed = findings.filter(({ outcome }) => outcome === 'failed')
  return reasons
    .map((reason) => failed.find((finding) => finding.capability === reason)?.detail)
    .findLast((detail) => detail !== undefined)
}

/** True when a candidate market was checked and found. Warnings about its terms or its chain do not count. */
export function isFound(findings: readonly Finding[], market: string): boolean {
  const has = (capability: Capability) => findings.some((one) => one.capability === capability)
  const lending = `lending:${market}` as const
  return has(lending) && !has(`candidate:${market}`) && whyNot(findings, lending) === undefined
}

/** Capabilities that are disabled by their own findings, not through a requirement, with the reason. */
export function disabledIn(
  findings: readonly Finding[],
): { capability: Capability; reason: string }[] {
  const failed = findings.filter(({ outcome, capability }) => {
    return outcome === 'failed' && capability !== 'gas' && capability !== 'endpoint'
  })
  const names = [...new Set(failed.map(({ capability }) => capability))]
  return names
    .filter((name) => !restsOn(name).some((other) => other !== name && names.includes(other)))
    .map((capability) => ({ capability, reason: whyNot(findings, capability) ?? '' }))
}

/** What stops working without a capability, for operators. */
export function describeCapability(capability: Capability): string {
  const [kind = '', place = ''] = capability.split(':')
  const described: Record<string, string> = {
    endpoint: 'nothing',
    gas: 'nothing',
    signing: 'signing',
    node: 'the chain',
    chain: 'the chain',
    bridge: place ? `the bridge to ${place}` : 'the bridge',
    swaps: 'swaps',
    prices: 'prices of this feed',
    funding: 'test money',
    market: `the market ${place}`,
    candidate: 'nothing',
    lending: `lending to ${place}`,
  }
  return described[kind] ?? kind
}
