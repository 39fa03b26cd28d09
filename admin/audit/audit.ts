import { auditAges } from './ages.js'
import { auditSenders } from './senders.js'
import { auditMissing } from './missing.js'
import { auditMoney } from './money.js'
import { auditOperations } from './operations.js'
import { auditRows } from './rows.js'
import { auditWorkflows } from './workflows.js'
import { repairDifference } from './reconcile.js'
import type { Difference } from './difference.js'
import type { AuditTools } from './tools.js'

/**
 * Compares rows, chains and workflows, and reports every difference. Writes nothing. Each difference is confirmed by a
 * second read, so that running processes cause no false reports. It checks:
 *
 * - money: minted amounts match burned amounts, and balances cover reservations
 * - operations: each effect at most once and as its row states, each row's block canonical
 * - ends: an intent is completed if and only if all its steps succeeded; `error.funds` matches the logs
 * - nonces of senders: without gaps, equal to the count of the chain, each under a stored hash
 * - credits equal the ledger, statuses follow the allowed transitions, each open intent has a workflow and vice versa
 * - no row is open for longer than allowed
 *
 * @throws {ServiceError} RPC_ERROR when a chain does not answer.
 */
export async function* audit(tools: AuditTools): AsyncGenerator<Difference> {
  for (const client of tools.chains.list) {
    yield* auditSenders(tools, client)
    yield* auditOperations(tools, client)
    yield* auditMoney(tools, client)
  }
  yield* auditMissing(tools)
  yield* auditRows(tools)
  yield* auditWorkflows(tools)
  yield* auditAges(tools)
}

/** One repair may expose the next difference: a newly indexed outcome may reopen an intent, for example. */
const ROUNDS = 4

/**
 * Repairs all differences that have a certain repair, in up to `ROUNDS - 1` rounds. Safe to repeat.
 *
 * @param report - Receives each difference that was repaired.
 * @returns The remaining differences.
 */
export async function reconcile(
  tools: AuditTools,
  report: (repaired: Difference) => void,
): Promise<Difference[]> {
  for (let round = 1; ; round++) {
    const left: Difference[] = []
    let repaired = 0
    for await (const difference of audit(tools)) {
      const isRepaired = round < ROUNDS && (await repairDifference(tools, difference))
      if (!isRepaired) left.push(difference)
      else report(difference)
      repaired += Number(isRepaired)
    }
    if (repaired === 0) return left
  }
}
