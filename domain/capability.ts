/**
 * A capability of the service on a chain. Each can fail separately.
 * - `node`: reading the chain. `chain`: signing for it.
 * - `market:` and `lending:`, with the address of a market: withdrawals from it and deposits into it.
 * - `bridge:`, with the name of the destination chain.
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

/** True when the capability was checked, and neither it nor a requirement has a finding other than `ok`. */
export function isProven(findings: readonly Finding[], capability: Capability): boolean {
  const reasons = restsOn(capability)
  const of = findings.filter((finding) => reasons.includes(finding.capability))
  const isChecked = of.some((finding) => finding.capability === capability)
  return isChecked && of.every(({ outcome }) => outcome === 'ok')
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
    lending: `lending to ${place}`,
  }
  return described[kind] ?? kind
}
