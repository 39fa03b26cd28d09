import { indexOutcome, moveSender, reconsider, restart, takeBack } from './rows/repairs.js'
import { insertExecuted } from './rows/operations.js'
import { matchOutcomes } from '../../relayer/blockOutcomes.js'
import { isKeySpent } from '../../evm/logs/spentKeys.js'
import type { Difference, Repair } from './difference.js'
import type { AuditTools } from './tools.js'

/** Repairs a difference in one transaction. Returns false when it has no certain repair or is repaired already. */
export async function repairDifference(
  tools: AuditTools,
  { repair }: Difference,
): Promise<boolean> {
  if (!repair) return false
  const { db } = tools
  switch (repair.type) {
    case 'index':
      return index(tools, repair)
    case 'order':
      return insertExecuted(db, repair.operation)
    case 'takeBack':
      return retract(tools, repair)
    case 'moveSender':
      return moveSender(db, repair)
    case 'reconsider':
      return reconsider(db, repair.intentId)
    case 'restart':
      return restart(db, repair.intentId)
  }
}

async function index(
  { db, chains, log: report }: AuditTools,
  { operation, log }: Extract<Repair, { type: 'index' }>,
): Promise<boolean> {
  const client = chains.byId(operation.chainId)
  // A row with this block counts as indexed, although its outcome is wrong. Reset it first.
  if (operation.blockHash === log.blockHash) await takeBack(db, operation)
  const matched = await matchOutcomes({ db, client, log: report }, [log], {
    ours: [],
    isEligible: () => true,
  })
  const mined = matched.find(({ id }) => id === operation.id)
  return mined !== undefined && (await indexOutcome(db, client.chain, mined))
}

/** Requires the same answer from all endpoints, because a single one may be behind or on a fork. */
async function retract(
  { db, chains }: AuditTools,
  { operation }: Extract<Repair, { type: 'takeBack' }>,
): Promise<boolean> {
  const { endpoints } = chains.byId(operation.chainId)
  const spent = await Promise.all(endpoints.map((endpoint) => isKeySpent(endpoint, operation)))
  return spent.every((one) => !one) && takeBack(db, operation)
}
