import { parseArgs } from 'node:util'
import { connect } from '../db/client/connect.js'
import { describeCapability, disabledIn, type Finding } from '../domain/capability.js'
import { ServiceError } from '../domain/errors.js'
import { checkPlanReads } from '../operations/health/planReads.js'
import { withPauses } from '../operations/health/pauses.js'
import { createProber, type Report } from '../operations/health/watch.js'
import { useDeployment } from './deployment.js'
import { toTable } from './account/table.js'

export const USAGE = `Usage: npm run doctor [-- --json]

  Compares the deployment with its chains: endpoints, contracts, tokens, markets, bridge, swaps, prices, simulation by
  the nodes, reads by block hash, batches, and balances of treasury and senders. Sends no transaction.

It uses the settings of the service (NETWORK, RPC_URL_…, DEVNET_FILE, and DATABASE_URL for treasury and senders),
otherwise those of a running npm start. Exit code: 0 when all checks passed, 1 when a check failed, 2 when the settings
or the arguments are wrong.`

/** The report as text, with its exit code. */
export type Diagnosis = { text: string; exitCode: 0 | 1 }

/**
 * Checks the deployment of the given settings.
 *
 * @returns Undefined for `--help`.
 * @throws {ServiceError} INVALID_REQUEST for wrong arguments; MISCONFIGURED without a URL in its message.
 */
export async function diagnose(
  argv: string[],
  env: NodeJS.ProcessEnv,
): Promise<Diagnosis | undefined> {
  const { json = false, help = false } = readOptions(argv)
  if (help) return undefined
  return useDeployment(env, async ({ registry, chains, databaseUrl }) => {
    const db = databaseUrl ? connect(databaseUrl, 1) : undefined
    // A busy database may fail the first attempt to connect.
    await db?.raw('select 1').catch(() => undefined)
    try {
      const probed = await createProber({
        ...{ chains, registry, further: checkPlanReads },
        ...(db && { db }),
      }).probe()
      const paused = db && (await withPauses(db, registry, probed.chains).catch(() => undefined))
      const report = paused ? { ...probed, chains: paused } : probed
      const findings = report.chains.flatMap((chain) => chain.findings)
      const isHealthy = findings.every(({ outcome }) => outcome !== 'failed')
      const text = json ? JSON.stringify(toJson(report), null, 2) : toText(report, findings)
      return { text, exitCode: isHealthy ? 0 : 1 }
    } finally {
      await db?.destroy()
    }
  })
}

function readOptions(argv: string[]) {
  const options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
  try {
    return parseArgs({ args: argv, options }).values
  } catch (error) {
    const [first = ''] = (error as Error).message.split(/(?<=\.)\s/)
    throw new ServiceError('INVALID_REQUEST', `${first} Help: npm run doctor -- --help`)
  }
}

function toText({ chains, operatorBalances }: Report, findings: Finding[]): string {
  const names = ['CHAIN', 'CHECK', 'OUTCOME', 'DETAIL', 'DISABLES']
  const rows = findings.map(({ chain, check, outcome, detail, capability }) => [
    ...[chain, check, outcome, detail],
    outcome === 'failed' ? describeCapability(capability) : '',
  ])
  const silent = chains.filter(({ answered }) => !answered).map(({ chain }) => chain)
  const failed = findings.filter(({ outcome }) => outcome === 'failed').length
  const notes = [
    ...(silent.length > 0
      ? [`Not checked, because they do not answer: ${silent.join(', ')}.`]
      : []),
    ...(operatorBalances.length > 0
      ? []
      : ['Treasury and senders were not checked, because no database answers.']),
    failed === 0 ? 'All checks passed.' : `${failed} of ${findings.length} checks failed.`,
  ]
  return `${toTable('', names, rows)}\n\n${notes.join('\n')}`
}

function toJson({ checkedAt, chains }: Report) {
  return {
    checkedAt,
    chains: chains.map((chain) => ({ ...chain, disabled: disabledIn(chain.findings) })),
  }
}
