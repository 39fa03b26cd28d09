import {
  confirmUpTo,
  findChainState,
  readHeaders,
} from '../../../operations/indexing/indexedBlocks.js'
import { setMined, type MinedOperation } from '../../../operations/indexing/outcomes.js'
import { dropOutcomes, withoutBlock } from '../../../operations/indexing/rollBack.js'
import { lockIntents, reconsiderIntents } from '../../../operations/indexing/reopened.js'
import type { Db } from '../../../db/client/connect.js'
import type { AuditedOperation } from './operations.js'

/**
 * Indexes an outcome that was missed when its block was indexed, and applies it to the intent.
 *
 * @returns False when the block was reorganised or is not indexed.
 */
export async function indexOutcome(
  db: Db,
  chain: { chainId: number; confirmations: number },
  mined: MinedOperation,
): Promise<boolean> {
  return db.transaction(async (trx) => {
    const lockedIntents = await lockIntents(trx, [mined.id])
    const state = await findChainState(trx, chain.chainId)
    const { number, hash } = mined.block
    const headers = await readHeaders(trx, chain.chainId)
    const isKept = headers.some((kept) => kept.number === number && kept.hash === hash)
    if (!state || (!isKept && number >= state.finalizedBlock)) return false
    await setMined(trx, [mined])
    const depth = BigInt(chain.confirmations) - 1n
    await confirmUpTo(trx, chain.chainId, { block: state.indexed.number - depth })
    await reconsiderIntents(trx, lockedIntents)
    return true
  })
}

/** Reverts an outcome that the chain does not have. The operation is signed or queued again. */
export async function takeBack(db: Db, { id, blockHash }: AuditedOperation): Promise<boolean> {
  return db.transaction(async (trx) => {
    const lockedIntents = await lockIntents(trx, [id])
    const row = await trx('operation')
      .where({ id, block_hash: blockHash })
      .forUpdate()
      .first<{ intent_id: string; sequence: number; tx_id: bigint | null } | undefined>()
    if (!row) return false
    await dropOutcomes(trx, [id])
    await trx('operation').where({ id }).update({ spent_since: null })
    const { intent_id, sequence } = row
    await trx('reservation')
      .where({ intent_id, sequence })
      .update({ spent_block: null, released_at: null })
    await trx('reservation').where({ intent_id, fed_by: sequence }).update({ from_block: null })
    if (row.tx_id !== null) {
      await trx('chain_tx')
        .where({ id: row.tx_id.toString(), block_hash: blockHash })
        .update(withoutBlock(trx))
    }
    await reconsiderIntents(trx, lockedIntents)
    return true
  })
}

type NonceMove = { chainId: number; sender: string; from: bigint; to: bigint }

/**
 * Advances a sender past nonces that it has used and that have no row. They are stored as lost: used by transactions
 * whose bytes are unknown here.
 */
export async function moveSender(
  db: Db,
  { chainId, sender, from, to }: NonceMove,
): Promise<boolean> {
  return db.transaction(async (trx) => {
    const own = { chain_id: chainId, sender }
    const moved = await trx('sender')
      .where({ ...own, next_nonce: from.toString() })
      .update({ next_nonce: to.toString() })
    if (moved === 0) return false
    await trx.raw(
      `insert into chain_tx (chain_id, sender, nonce, state)
       select ?, ?, nonce, 'lost' from generate_series(?::bigint, ?::bigint) nonce
       on conflict (chain_id, sender, nonce) do nothing`,
      [chainId, sender, from.toString(), (to - 1n).toString()],
    )
    return true
  })
}

/** Reopens an intent whose reported end is invalid. */
export async function reconsider(db: Db, intentId: string): Promise<boolean> {
  return db.transaction(async (trx) => (await reconsiderIntents(trx, [intentId])).length > 0)
}

/** Marks an open intent, so that the sweeper restarts its workflow. */
export async function restart(db: Db, intentId: string): Promise<boolean> {
  const marked = await db('intent')
    .where({ id: intentId, recover_at: null })
    .whereNotIn('status', ['completed', 'failed'])
    .update({ recover_at: db.raw('clock_timestamp()'), dispatch_attempted_at: null })
  return marked > 0
}
