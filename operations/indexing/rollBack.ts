import { setIndexed, type IndexedMove } from './indexedBlocks.js'
import { detachDeadTransactions, forgetFailures } from '../signing/inclusion.js'
import { lockIntents, reconsiderIntents } from './reopened.js'
import type { Db } from '../../db/client/connect.js'

/** An operation without a signature returns to the queue. */
const STATE_WITHOUT_BLOCK = `case when exists (
    select from signature s where s.operation_id = operation.id) then 'signed' else 'queued' end`

/** Detaches operations from their block. Signed ones are resent, unsigned ones are queued. */
export async function dropOutcomes(trx: Db, operations: string[]): Promise<void> {
  await trx('operation')
    .whereIn('id', operations)
    .whereIn('state', ['mined', 'confirmed', 'final'])
    .update({
      state: trx.raw(STATE_WITHOUT_BLOCK),
      block_number: null,
      block_hash: null,
      log_index: null,
    })
}

/** The signatures of failed operations count again, also those of ended intents: they may spend the money after all. */
async function reserveAgain(trx: Db, operations: string[]): Promise<void> {
  await trx('reservation as r')
    .whereNotNull('r.released_at')
    .whereExists(
      trx('operation as o')
        .whereIn('o.id', operations)
        .where('o.state', 'signed')
        .whereRaw('o.intent_id = r.intent_id and o.sequence = r.sequence'),
    )
    .update({ released_at: null })
}

/** Columns of a transaction whose block was removed. */
export const withoutBlock = (trx: Db) => ({
  ...{ state: 'open', mined_send: null, block_number: null, block_hash: null },
  opened_at: trx.raw('clock_timestamp()'),
})

/** The effect of a reorg: operations whose block was removed, and reopened intents. */
export type Vanished = { operations: string[]; reopened: string[] }

/**
 * Reverts everything indexed above a block that is still canonical. Signed operations wait for their log again, their
 * transactions are resent, their money counts as unspent. Intents whose reported end depended on them are reopened.
 */
export async function rollBack(
  trx: Db,
  chainId: number,
  { from, to }: IndexedMove,
): Promise<Vanished> {
  const above = to.number.toString()
  const operations = await trx('operation')
    .where({ chain_id: chainId })
    .whereIn('state', ['mined', 'confirmed'])
    .where('block_number', '>', above)
    .pluck<string[]>('id')
  const lockedIntents = await lockIntents(trx, operations)
  await dropOutcomes(trx, operations)
  await reserveAgain(trx, operations)
  const reopened = await trx('chain_tx')
    .where({ chain_id: chainId, state: 'mined' })
    .where('block_number', '>', above)
    .update(withoutBlock(trx))
    .returning<{ id: bigint }[]>('id')
  // They are resent first: their previous send time does not indicate that they are stuck.
  await trx('chain_tx_send')
    .whereIn(
      'tx_id',
      reopened.map(({ id }) => id.toString()),
    )
    .update({ sent_at: null, sent_block: null })
  await detachDeadTransactions(trx, chainId)
  await forgetFailures(trx, chainId)
  await trx('reservation')
    .where({ chain_id: chainId })
    .where('spent_block', '>', above)
    .update({ spent_block: null })
  await trx('reservation')
    .where({ chain_id: chainId })
    .whereNotNull('fed_by')
    .where('from_block', '>', above)
    .update({ from_block: null })
  await trx('block_header').where({ chain_id: chainId }).where('number', '>', above).delete()
  await setIndexed(trx, chainId, { from, to })
  return { operations, reopened: await reconsiderIntents(trx, lockedIntents) }
}
