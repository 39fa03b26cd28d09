import { disabledIn } from '../../domain/capability.js'
import { probeChain, type ChainReport, type FurtherCheck } from './chain.js'
import type { Chains } from '../../evm/connect.js'
import type { Registry } from '../../evm/registry.js'
import type { Finding } from '../../domain/capability.js'

/** Probes all chains of a deployment concurrently. */
export async function probeChains(
  { list }: Chains,
  registry: Registry,
  further?: FurtherCheck,
): Promise<ChainReport[]> {
  const reports = await Promise.all(list.map((client) => probeChain(client, registry, further)))
  const broken = reports
    .filter(({ findings }) => hasNoBridge(findings))
    .map(({ chain }) => `bridge:${chain}`)
  return reports.map((report) => ({
    ...report,
    findings: report.findings.map((finding) => downgradeRouteFailure(finding, broken)),
  }))
}

const hasNoBridge = (findings: Finding[]) =>
  disabledIn(findings).some(({ capability }) => /^(node|chain|bridge)$/.test(capability))

/** Downgrades a failed route to a warning when the destination's own bridge is broken, which that chain reports. */
function downgradeRouteFailure(finding: Finding, broken: string[]): Finding {
  if (finding.outcome !== 'failed' || !broken.includes(finding.capability)) return finding
  return { ...finding, outcome: 'warning' }
}
