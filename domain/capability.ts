/**
 * What the service can do on a chain, each part of which may be broken by itself. `node`: to read it at all;
 * `chain`: to sign for it. `market:` and `lending:` go on with the address of a market, out of which or into which
 * money goes; `bridge:` with the name of the chain that a way leads to. `signing` is what an
 * operator has paused: what is planned waits. `endpoint` is one of several, `gas` is what
 * lanes have: they disable nothing, for the others serve, and what cannot be paid waits.
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

/** What a check of a chain has found. A failed one disables its capability; `detail` is a clause. */
export type Finding = {
  chain: string
  check: string
  capability: Capability
  outcome: 'ok' | 'warning' | 'failed'
  detail: string
}

/** A capability and those that it rests on, the broadest one last. */
function restsOn(capability: Capability): Capability[] {
  const [kind, place] = capability.split(':')
  if (capability === 'node' || capability === 'endpoint') return [capability]
  if (capability === 'chain') return ['chain', 'node']
  if (kind === 'lending') return [capability, `market:${place}`, 'chain', 'node']
  if (kind === 'bridge' && place) return [capability, 'bridge', 'chain', 'node']
  return [capability, 'chain', 'node']
}

/** Why a capability is disabled: a clause that a sentence can end with. Undefined when it is not. */
export function whyNot(findings: readonly Finding[], capability: Capability): string | undefined {
  const reasons = restsOn(capability)
  const failed = findings.filter(({ outcome }) => outcome === 'failed')
  return reasons
    .map((reason) => failed.find((finding) => finding.capability === reason)?.detail)
    .findLast((detail) => detail !== undefined)
}

/** True when a capability was checked, and nothing of it or of what it rests on is in doubt. */
export function isProven(findings: readonly Finding[], capability: Capability): boolean {
  const reasons = restsOn(capability)
  const of = findings.filter((finding) => reasons.includes(finding.capability))
  const isChecked = of.some((finding) => finding.capability === capability)
  return isChecked && of.every(({ outcome }) => outcome === 'ok')
}

/** The capabilities that are disabled by themselves, and not because one that they rest on is, with the reason. */
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

/** What goes on working without a capability is not told: only what does not, for a person to read. */
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
