import { auditAges } from './ages.js'
import { auditLanes } from './lanes.js'
import { auditMissing } from './missing.js'
import { auditMoney } from './money.js'
import { auditOperations } from './operations.js'
import { auditRows } from './rows.js'
import { auditWorkflows } from './workflows.js'
import { mend } from './reconcile.js'
import type { Difference } from './difference.js'
import type { AuditTools } from './tools.js'

/**
 * Compares rows, chains and workflows, and names every difference. Writes nothing. What differs is looked at
 * twice, so that processes which run meanwhile make none.
 *
 * - money: nothing came out of the bridge that did not go in, nothing is spoken for that is not there
 * - each effect at most once and as its row says, each row's block canonical
 * - completed exactly where every step has its success; a failure's money where it says
 * - nonces of lanes without a gap, as many as the chain counts, each under a stored hash
 * - credits as the ledger, statuses along their edges, no open intent without workflow and the reverse
 * - nothing open for longer than it may be
 *
 * @throws {ServiceError} RPC_ERROR when a chain does not answer.
 */
export async function* audit(tools: AuditTools): AsyncGenerator<Difference> {
  for (const client of tools.chains.list) {
    yield* auditLanes(tools, client)
    yield* auditOperations(tools, client)
    yield* auditMoney(tools, client)
  }
  yield* auditMissing(tools)
  yield* auditRows(tools)
  yield* auditWorkflows(tools)
  yield* auditAges(tools)
}

/** One mend may show what is to be mended next: an outcome that is booked turns an end round. */
const ROUNDS = 4

/**
 * Mends what is certain, as long as anything can be. Safe to repeat.
 *
 * @param tell - Hears of each mend that has changed something.
 * @returns What is left.
 */
export async function reconcile(
  tools: AuditTools,
  tell: (mended: Difference) => void,
): Promise<Difference[]> {
  for (let round = 1; ; round++) {
    const left: Difference[] = []
    let mended = 0
    for await (const difference of audit(tools)) {
      const isMended = round < ROUNDS && (await mend(tools, difference))
      if (!isMended) left.push(difference)
      else tell(difference)
      mended += Number(isMended)
    }
    if (mended === 0) return left
  }
}
