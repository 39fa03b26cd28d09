import { runPrepared, type Statement } from '../../db/client/prepared.js'
import type { Db } from '../../db/client/connect.js'
import type { WalletSecret } from '../../db/keys.js'
import type { StepPlan } from '../../domain/intent/intent.js'
import type { Asked } from '../../domain/intent/spending.js'
import type { Operation } from '../operations.js'

/** The plan of an operation's intent, and the request of its caller. */
export type PlannedRequest = { plan: StepPlan; asked: Asked }

/**
 * The input for building an operation, in addition to its row: the key of its wallet, and the plan. `planned` is undefined
 * without an intent of the same wallet and account, or without a plan.
 */
export type SigningInput = {
  secret: WalletSecret | undefined
  planned: PlannedRequest | undefined
}

type OrderRow = { id: string } & {
  [Column in keyof WalletSecret]: WalletSecret[Column] | null
} & { plan: StepPlan | null; action: Asked['action']; units: string; everything: boolean }

/** Reads the input for building operations, by their ids, in one statement. */
export async function readOrders(
  db: Db,
  operations: Operation[],
): Promise<Map<string, SigningInput>> {
  const rows = await runPrepared<OrderRow>(db, ordersStatement, [
    operations.map(({ id }) => id),
    operations.map(({ intentId }) => intentId),
    operations.map(({ walletId }) => walletId),
    operations.map(({ accountId }) => accountId),
  ])
  return new Map(rows.map((row) => [row.id, toOrder(row)]))
}

function toOrder(row: OrderRow): SigningInput {
  const { walletId, accountId, address, kekId, sealed, plan, action, units, everything } = row
  const secret = { walletId, accountId, address, kekId, sealed }
  return {
    secret: sealed === null ? undefined : (secret as WalletSecret),
    planned:
      plan === null ? undefined : { plan, asked: { action, units: BigInt(units), everything } },
  }
}

const ordersStatement: Statement = {
  name: 'orders',
  // Arrays in subqueries, so that the generic plan is reused.
  text: `select o.id, w.id as "walletId", w.account_id as "accountId", w.address, s.kek_id as "kekId", s.sealed,
  i.plan, i.action, i.units, i.everything
from unnest((select $1)::text[], (select $2)::text[], (select $3)::text[], (select $4)::text[])
  as o(id, intent_id, wallet_id, account_id)
left join wallet w on w.id = o.wallet_id
left join wallet_secret s on s.wallet_id = w.id
left join intent i on i.id = o.intent_id and i.wallet_id = o.wallet_id and i.account_id = o.account_id`,
}
