import { refusal } from '../custody/policy.js'
import { findAsked } from '../db/intents/intents.js'
import { isWithinRequest, type Asked } from '../domain/spending.js'
import type { Db } from '../db/connection/connect.js'
import type { Operation } from '../db/lanes/operations.js'
import type { ExecutionPlan } from '../domain/intent.js'
import type { PriceLimits } from '../domain/limits.js'

/**
 * What the caller of an operation's intent has asked for.
 *
 * @throws {ServiceError} INTERNAL when the plan spends more than that, or does something else.
 */
export async function getAsked(
  db: Db,
  { intentId, walletId }: Operation,
  { plan, limits }: { plan: ExecutionPlan; limits: PriceLimits },
): Promise<Asked> {
  const asked = await findAsked(db, intentId, walletId)
  if (asked && isWithinRequest(asked, plan, limits)) return asked
  throw refusal('the plan must spend no more than its intent asks for.')
}
