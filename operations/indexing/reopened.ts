import { statuses } from '../../domain/intent/intent.js'
import type { Db } from '../../db/client/connect.js'

/**
 * Locks the intents of operations before their reported state changes. Intents are always locked before operations.
 *
 * @returns The ids of the intents. Fundings have none.
 */
export async function lockIntents(trx: Db, operations: string[]): Promise<string[]> {
  if (operations.length === 0) return []
  return callWithIds(trx, 'select lock_intents(?, ?) as ids', [operations, [...statuses]])
}

/**
 * Locks ended intents that a block affects. `mined`: the operations in the block. `confirmed`: the last block that it
 * confirms.
 */
export async function lockEnded(
  trx: Db,
  chainId: number,
  { mined, confirmed }: { mined: { id: string }[]; confirmed: bigint },
): Promise<string[]> {
  const ids = mined.map(({ id }) => id)
  return callWithIds(trx, LOCK_ENDED, [ids, chainId, confirmed.toString()])
}

const LOCK_ENDED = `select lock_intents(?::text[] || array(
    select id from operation where chain_id = ? and state = 'mined' and block_number <= ?),
  '{completed,failed}') as ids`

/**
 * Reopens the given intents whose reported end is invalid: they are `executing` again, and the sweeper restarts their
 * workflows. Their rows decide how they continue:
 *
 * - A step whose success was reverted is resent with the same bytes. The workflow waits for it.
 * - A step that now failed, although later ones continued, fails the intent once nothing is in flight:
 *   `finalizeIntent` reports the first failed step.
 * - A step that failed and has now succeeded continues the intent with the next step.
 * - A burn that is reverted after its money arrived changes nothing: the mint completes the step.
 *
 * A retried intent is never reopened.
 *
 * @returns The ids of the reopened intents.
 */
export async function reconsiderIntents(trx: Db, intents: string[]): Promise<string[]> {
  if (intents.length === 0) return []
  return callWithIds(trx, 'select reconsider_intents(?) as ids', [intents])
}

async function callWithIds(
  trx: Db,
  sql: string,
  bindings: (number | string | string[])[],
): Promise<string[]> {
  const { rows } = await trx.raw<{ rows: { ids: string[] }[] }>(sql, bindings)
  return rows[0]?.ids ?? []
}
