import { z } from 'zod'
import { describeCapability, disabledIn } from '../../../domain/capability.js'
import { fromUnits } from '../../../domain/money.js'
import { withPauses } from '../../../operations/health/pauses.js'
import { MINUTE_MS } from '../../../runtime/durations.js'
import { readiness } from '../../schemas/readiness.js'
import type { ChainReport } from '../../../operations/health/chain.js'
import type { Report } from '../../../operations/health/watch.js'
import type { OperatorBalance } from '../../../operations/health/gasBalances.js'
import type { Services } from '../../http/services.js'

/** The latest health report, with the current pauses. */
export async function readReadinessBody({
  prober,
  db,
  registry,
  requestLog,
}: Pick<Services, 'prober' | 'db' | 'registry' | 'requestLog'>): Promise<
  z.infer<typeof readiness>
> {
  const { checkedAt, chains, operatorBalances } = await readRecent(prober)
  // Pauses are read now: operators check them right after a change.
  const paused = await withPauses(db, registry, chains)
  return {
    checkedAt: checkedAt.toISOString(),
    chains: paused.map(chainBody),
    treasury: operatorBalances.filter(({ role }) => role === 'treasury').map(balanceBody),
    senders: operatorBalances.filter(({ role }) => role === 'sender').map(balanceBody),
    ...(requestLog && { requestLog: requestLog.state() }),
  }
}

/** Reports are rare while all is well. A caller gets one that is at most this old, ms. */
const RECENT_MS = 5 * MINUTE_MS

async function readRecent(prober: Services['prober']): Promise<Report> {
  const known = prober.latest()
  const isRecent = known && Date.now() - known.checkedAt.getTime() < RECENT_MS
  return isRecent ? known : prober.probe()
}

const chainBody = ({ chain, answered, endpoints, findings }: ChainReport) => ({
  ...{ chain, answered, endpoints },
  disabled: disabledIn(findings).map(({ capability, reason }) => {
    return { capability, what: describeCapability(capability), reason }
  }),
  checks: findings.map(({ check, outcome, detail }) => ({ check, outcome, detail })),
})

const balanceBody = ({ chain, address, asset, units, lasts }: OperatorBalance) => ({
  ...{ chain, address, asset },
  balance: fromUnits(units, asset === 'ETH' ? 18 : 6),
  lasts: Number(lasts),
})
