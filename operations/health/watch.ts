import { setTimeout as sleep } from 'node:timers/promises'
import { disabledIn, type Finding } from '../../domain/capability.js'
import { probeChains } from './deployment.js'
import { judgeOperatorBalances, readOperatorBalances, type OperatorBalance } from './gasBalances.js'
import type { ChainReport, FurtherCheck } from './chain.js'
import type { Chains } from '../../evm/connect.js'
import type { Registry } from '../../evm/registry.js'
import type { Db } from '../../db/client/connect.js'
import type { PartLog } from '../../runtime/log.js'

/**
 * Interval of the probes of a healthy deployment, and of one with a failed check or a silent chain. Four processes probe,
 * with some thirty calls per chain, and registry and contracts rarely change.
 */
export const HEALTHY_MS = 10_800_000
const UNHEALTHY_MS = 30_000

/** The state of a deployment at a time. */
export type Report = { checkedAt: Date; chains: ChainReport[]; operatorBalances: OperatorBalance[] }

/** `db`: probes the balances of treasury and senders too. `further`: checks that only the doctor makes. */
export type ProbeTools = { chains: Chains; registry: Registry; db?: Db; further?: FurtherCheck }

export type Prober = {
  /** The latest report; undefined before the first one. */
  latest(): Report | undefined
  /**
   * Probes the deployment. Calls during a probe share the next one, so that a report is never older than its call. The
   * findings are stored in the clients of the chains.
   */
  probe(): Promise<Report>
}

/**
 * Creates a prober, which keeps its latest report. A chain that does not answer keeps its earlier findings.
 */
export function createProber(tools: ProbeTools): Prober {
  let latest: Report | undefined
  let running: Promise<Report> | undefined
  let next: Promise<Report> | undefined
  const probe = async () => {
    latest = await readReport(tools, latest?.operatorBalances ?? [])
    keep(tools.chains, latest.chains)
    return latest
  }
  return {
    latest: () => latest,
    probe() {
      const before = Promise.resolve(running).catch(() => undefined)
      next ??= before.then(() => {
        next = undefined
        running = probe()
        return running
      })
      return next
    },
  }
}

/** @param known - The earlier balances, used when the database does not answer. */
async function readReport(
  { chains, registry, db, further }: ProbeTools,
  known: OperatorBalance[],
): Promise<Report> {
  const [reports, operatorBalances] = await Promise.all([
    probeChains(chains, registry, further),
    // Without a database the addresses of treasury and senders are unknown.
    db ? readOperatorBalances(db, chains).catch(() => known) : [],
  ])
  const judged = judgeOperatorBalances(operatorBalances)
  const withBalances = reports.map((report) => ({
    ...report,
    findings: [...report.findings, ...judged.filter(({ chain }) => chain === report.chain)],
  }))
  return { checkedAt: new Date(), chains: withBalances, operatorBalances }
}

function keep({ list }: Chains, reports: ChainReport[]): void {
  for (const { chain, answered, findings } of reports) {
    const client = list.find((known) => known.chain.name === chain)
    if (client && answered) client.condition.findings = findings
  }
}

/**
 * Probes a deployment periodically until the signal aborts, and logs checks that fail and checks that recover.
 *
 * @returns `first` resolves with the first report, `ended` after the abort.
 */
export function watchDeployment(
  prober: Prober,
  log: PartLog,
  stopping: AbortSignal,
): { first: Promise<void>; ended: Promise<void> } {
  const reported = new Map<string, Finding>()
  const once = async () => {
    try {
      const report = await prober.probe()
      logChanges(report, reported, log)
      return isHealthy(report) ? HEALTHY_MS : UNHEALTHY_MS
    } catch (error) {
      log.warn({ err: error }, 'probe failed')
      return UNHEALTHY_MS
    }
  }
  const begun = once()
  const run = async () => {
    let waitMs = await begun
    while (!stopping.aborted) {
      await sleep(waitMs, undefined, { signal: stopping }).catch(() => undefined)
      if (!stopping.aborted) waitMs = await once()
    }
  }
  return { first: begun.then(() => undefined), ended: run() }
}

const isHealthy = ({ chains }: Report) =>
  chains.every(({ answered, findings }) => {
    return answered && findings.every(({ outcome }) => outcome !== 'failed')
  })

/** Logs each failed check and each silent chain once, and once more when it recovers. */
function logChanges({ chains }: Report, reported: Map<string, Finding>, log: PartLog): void {
  const answering = chains.filter(({ answered }) => answered)
  const silent = chains.filter(({ answered }) => !answered).map(({ chain }) => silence(chain))
  const failed = answering.flatMap(({ findings }) =>
    findings.filter(({ outcome }) => outcome === 'failed'),
  )
  const all = [...failed, ...silent]
  const now = new Map(all.map((finding) => [nameOf(finding), finding]))
  for (const [name, finding] of now) {
    if (!reported.has(name)) log.warn(finding, 'deployment check failed')
    reported.set(name, finding)
  }
  for (const [name, finding] of reported) {
    const isAnswered = answering.some(({ chain }) => chain === finding.chain)
    if (!isAnswered || now.has(name)) continue
    reported.delete(name)
    log.info({ chain: finding.chain, check: finding.check }, 'deployment check recovered')
  }
}

const silence = (chain: string): Finding => ({
  ...{ chain, check: 'answers', capability: 'node', outcome: 'warning' },
  detail: 'the chain does not answer',
})

const nameOf = ({ chain, check, capability }: Finding) => `${chain} ${check} ${capability}`

/** The report as log fields of a started process. */
export function summarize({ chains }: Report) {
  return chains.map(({ chain, answered, endpoints, findings }) => ({
    ...{ chain, answered, endpoints, disabled: disabledIn(findings) },
    warnings: findings.filter(({ outcome }) => outcome === 'warning').map(({ check }) => check),
    passed: findings.filter(({ outcome }) => outcome === 'ok').length,
  }))
}
