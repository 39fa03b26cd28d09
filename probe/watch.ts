import { setTimeout as sleep } from 'node:timers/promises'
import { disabledIn, type Finding } from '../domain/capability.js'
import { probeChains } from './deployment.js'
import { judgePurses, readPurses, type Purse } from './purses.js'
import type { ChainReport } from './chain.js'
import type { Chains } from '../chains/connect.js'
import type { Registry } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'
import type { PartLog } from '../log.js'

/** How often a deployment in which all is well is probed, and one of which something is broken or silent. */
const WELL_MS = 300_000
const UNWELL_MS = 30_000

/** What is known of a deployment, and since when. */
export type Report = { checkedAt: Date; chains: ChainReport[]; purses: Purse[] }

/** `db`: to look for treasury and lanes as well. */
export type ProbeTools = { chains: Chains; registry: Registry; db?: Db }

export type Prober = {
  /** The latest report; undefined until there is one. */
  latest(): Report | undefined
  /**
   * Probes the deployment, together with whoever asks for it meanwhile: what is told was looked at after it was asked
   * for. What is found is known to all that ask its chains.
   */
  probe(): Promise<Report>
}

/**
 * Probes a deployment when it is asked to, and keeps what it has found. A chain that did not answer keeps what was
 * known of it.
 */
export function createProber(tools: ProbeTools): Prober {
  let latest: Report | undefined
  let running: Promise<Report> | undefined
  let next: Promise<Report> | undefined
  const probe = async () => {
    latest = await readReport(tools, latest?.purses ?? [])
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

/** `known`: what was there before, for as long as the database does not answer. */
async function readReport({ chains, registry, db }: ProbeTools, known: Purse[]): Promise<Report> {
  const [reports, purses] = await Promise.all([
    probeChains(chains, registry),
    // Without a database there is no telling whose money it would be.
    db ? readPurses(db, chains).catch(() => known) : [],
  ])
  const judged = judgePurses(purses)
  const withPurses = reports.map((report) => ({
    ...report,
    findings: [...report.findings, ...judged.filter(({ chain }) => chain === report.chain)],
  }))
  return { checkedAt: new Date(), chains: withPurses, purses }
}

function keep({ list }: Chains, reports: ChainReport[]): void {
  for (const { chain, answered, findings } of reports) {
    const client = list.find((one) => one.chain.name === chain)
    if (client && answered) client.condition.findings = findings
  }
}

/**
 * Probes a deployment again and again until the signal aborts, and logs what is disabled and what works again.
 *
 * @returns Resolves with the first report.
 */
export function watchDeployment(
  prober: Prober,
  log: PartLog,
  stopping: AbortSignal,
): { first: Promise<void>; ended: Promise<void> } {
  const told = new Map<string, Finding>()
  const once = async () => {
    try {
      const report = await prober.probe()
      tell(report, told, log)
      return isWell(report) ? WELL_MS : UNWELL_MS
    } catch (error) {
      log.warn({ err: error }, 'probing failed')
      return UNWELL_MS
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

const isWell = ({ chains }: Report) =>
  chains.every(({ answered, findings }) => {
    return answered && findings.every(({ outcome }) => outcome !== 'failed')
  })

/** Each failed check once, and each chain that keeps silent, until it has passed again. */
function tell({ chains }: Report, told: Map<string, Finding>, log: PartLog): void {
  const answering = chains.filter(({ answered }) => answered)
  const silent = chains.filter(({ answered }) => !answered).map(({ chain }) => silence(chain))
  const failed = answering.flatMap(({ findings }) =>
    findings.filter(({ outcome }) => outcome === 'failed'),
  )
  const all = [...failed, ...silent]
  const now = new Map(all.map((finding) => [nameOf(finding), finding]))
  for (const [name, finding] of now) {
    if (!told.has(name)) log.warn(finding, 'a check of the deployment failed')
    told.set(name, finding)
  }
  for (const [name, finding] of told) {
    const isAnswered = answering.some(({ chain }) => chain === finding.chain)
    if (!isAnswered || now.has(name)) continue
    told.delete(name)
    log.info({ chain: finding.chain, check: finding.check }, 'a check that failed passes again')
  }
}

const silence = (chain: string): Finding => ({
  ...{ chain, check: 'answers', capability: 'node', outcome: 'warning' },
  detail: 'it does not answer',
})

const nameOf = ({ chain, check, capability }: Finding) => `${chain} ${check} ${capability}`

/** The report as the log has it: one line for a process that has started. */
export function summarize({ chains }: Report) {
  return chains.map(({ chain, answered, endpoints, findings }) => ({
    ...{ chain, answered, endpoints, disabled: disabledIn(findings) },
    warnings: findings.filter(({ outcome }) => outcome === 'warning').map(({ check }) => check),
    passed: findings.filter(({ outcome }) => outcome === 'ok').length,
  }))
}
