import { describePause, readPauses, type SigningPause } from '../../db/pauses.js'
import { failed, type CheckResult } from './look.js'
import type { ChainReport } from './chain.js'
import type { Chain, Registry } from '../../evm/registry.js'
import type { Db } from '../../db/client/connect.js'

/** Adds a failed finding to each report for every pause that applies to its chain. */
export async function withPauses(
  db: Db,
  registry: Registry,
  reports: ChainReport[],
): Promise<ChainReport[]> {
  const pauses = await readPauses(db)
  return reports.map((report) => {
    const rows = pauses.flatMap((pause) => rowOf(pause, registry.get(report.chain)) ?? [])
    const found = rows.map((row) => ({ chain: report.chain, ...row }))
    return { ...report, findings: [...report.findings, ...found] }
  })
}

function rowOf(pause: SigningPause, { chainId }: Chain): CheckResult | undefined {
  const { scope, subject } = pause
  if (scope === 'chain' && subject !== String(chainId)) return undefined
  return failed('pause', 'signing', describePause(pause))
}
