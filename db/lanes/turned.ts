import { statuses } from '../../domain/intent.js'
import type { Db } from '../connection/connect.js'

/**
 * Locks the intents of some operations before what was told of them changes: intents come before operations
 * wherever rows are locked.
 *
 * @returns Their ids; a funding has none.
 */
export async function holdIntents(trx: Db, operations: string[]): Promise<string[]> {
  if (operations.length === 0) return []
  return callWithIds(trx, 'select hold_intents(?, ?) as ids', [operations, [...statuses]])
}

/**
 * The same for intents that are completed or failed and of which a block says more: `mined` are the operations that it
 * brings, `confirmed` is the last block that it confirms.
 */
export async function holdEnded(
  trx: Db,
  chainId: number,
  { mined, confirmed }: { mined: { id: string }[]; confirmed: bigint },
): Promise<string[]> {
  const ids = mined.map(({ id }) => id)
  return callWithIds(trx, HOLD_ENDED, [ids, chainId, confirmed.toString()])
}

const HOLD_ENDED = `select hold_intents(?::text[] || array(
    select id from operation where chain_id = ? and state = 'mined' and block_number <= ?),
  '{completed,failed}') as ids`

/**
 * Reopens those of the intents whose end the rows do not bear any more: `executing` again, to be started by
 * the sweeper. What a reopened intent can still do is read from its rows:
 *
 * - A step whose success vanished is sent again by itself, as the same bytes. The workflow waits for it.
 * - A step that now failed, though later ones went on, ends the intent with that step's failure as soon as
 *   nothing is in flight: `finalizeIntent` takes the first step that failed in its rows.
 * - A step that failed and now succeeded lets the intent go on with the next one.
 * - A burn that vanishes after its money came out changes nothing: the mint completes the step.
 *
 * An intent that was retried is never reopened.
 *
 * @returns The ids of the reopened ones.
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
