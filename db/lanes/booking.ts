import { closeBurn } from './burns.js'
import { dropCarriers } from './carrying.js'
import type { Db } from '../connection/connect.js'
import type { OperationKind } from '../../domain/operation.js'
import type { OpenSend } from './watched.js'

export type BlockId = { number: bigint; hash: string }
/** A block that its header tells of. `baseFeeWei`: per unit of gas; absent: nobody has read that header. */
export type BlockToBook = BlockId & { baseFeeWei?: bigint }
export type ChainState = { booked: BlockId; finalizedBlock: bigint }

/** What is booked of a chain, undefined before its first block is. */
export async function findChainState(db: Db, chainId: number): Promise<ChainState | undefined> {
  const row = await db('chain')
    .where({ id: chainId })
    .first<{ number: bigint; hash: string; finalizedBlock: bigint } | undefined>(
      'booked_block as number',
      'booked_hash as hash',
      'finalized_block as finalizedBlock',
    )
  if (!row) return undefined
  const { number, hash, finalizedBlock } = row
  return { booked: { number, hash }, finalizedBlock }
}

/** Starts to book a chain at a final block: nothing of ours can be in or before it. */
export async function insertChain(
  db: Db,
  chain: { id: number; name: string; at: BlockToBook },
): Promise<void> {
  const { id, name, at } = chain
  await db.transaction(async (trx) => {
    await trx('chain').insert({
      id,
      name,
      booked_block: at.number.toString(),
      booked_hash: at.hash,
      base_fee_wei: at.baseFeeWei?.toString() ?? null,
      finalized_block: at.number.toString(),
    })
    await insertHeaders(trx, id, [at])
  })
}

export async function insertHeaders(trx: Db, chainId: number, blocks: BlockId[]): Promise<void> {
  await trx('block_header').insert(
    blocks.map(({ number, hash }) => ({ chain_id: chainId, number: number.toString(), hash })),
  )
}

/** How the booked block moves: on, or back to where a reorg leaves what was booked. */
export type BookedMove = { from: BlockId; to: BlockToBook }

/** Moves the booked block. Fails when another leader has moved it meanwhile. */
export async function setBooked(trx: Db, chainId: number, { from, to }: BookedMove) {
  const changed = await trx('chain')
    .where({ id: chainId, booked_hash: from.hash })
    .update({
      booked_block: to.number.toString(),
      booked_hash: to.hash,
      base_fee_wei: to.baseFeeWei?.toString() ?? null,
      booked_at: trx.raw('clock_timestamp()'),
    })
  if (changed !== 1) throw new Error('The booked block has moved.')
}

/** The kept headers, newest first. */
export async function readHeaders(db: Db, chainId: number): Promise<BlockId[]> {
  return db('block_header')
    .where({ chain_id: chainId })
    .orderBy('number', 'desc')
    .select<BlockId[]>('number', 'hash')
}

type StepRow = { intent_id: string; sequence: number; kind: OperationKind }

/** One of our transactions, by the send that was mined, and the block that it is in. */
type MinedSend = {
  send: Pick<OpenSend, 'txId' | 'n'>
  receipt: { blockNumber: bigint; blockHash: string }
}

/**
 * Writes that transactions of ours are in blocks, by whichever of their sends, after the outcomes of those blocks.
 * Operations of them that have none lose their carrier, and the signer carries them again: it was reverted as a
 * whole, or other bytes were mined than those that carried them.
 */
export async function setTransactionsMined(trx: Db, mined: MinedSend[]): Promise<void> {
  if (mined.length === 0) return
  const rows = mined.map(({ send, receipt }) => ({
    id: send.txId.toString(),
    send: send.n,
    block: receipt.blockNumber.toString(),
    hash: receipt.blockHash,
  }))
  await trx.raw(
    `update chain_tx t set state = 'mined', mined_send = m.send, block_number = m.block, block_hash = m.hash
     from json_to_recordset(?) as m(id bigint, send int, block bigint, hash text)
     where t.id = m.id and t.state = 'open'`,
    [JSON.stringify(rows)],
  )
  await dropCarriers(
    trx,
    rows.map(({ id }) => id),
  )
}

/** Confirms what is mined up to a block. `except`: of these the chain says something else. */
export async function confirmUpTo(
  trx: Db,
  chainId: number,
  { block, except = [] }: { block: bigint; except?: string[] },
): Promise<void> {
  await trx('operation')
    .where({ chain_id: chainId, state: 'mined' })
    .where('block_number', '<=', block.toString())
    .whereRaw('not id = any(?)', [except])
    .update({ state: 'confirmed' })
}

/**
 * Ends the watch over everything up to a finalized block, if this very block is a kept header. Money of
 * failed calls can be planned again from here on: no reorg turns the failure round any more.
 */
export async function finalizeUpTo(trx: Db, chainId: number, finalized: BlockId): Promise<void> {
  const upTo = finalized.number.toString()
  const canonical = await trx('block_header')
    .where({ chain_id: chainId, number: upTo, hash: finalized.hash })
    .first<BlockId | undefined>('number', 'hash')
  if (!canonical) return
  const done = await trx('operation')
    .where({ chain_id: chainId, state: 'confirmed' })
    .where('block_number', '<=', upTo)
    .update({ state: 'final' })
    .returning<(StepRow & { success: boolean })[]>(['intent_id', 'sequence', 'kind', 'success'])
  for (const { intent_id, sequence, kind, success } of done) {
    if (success && kind === 'mint') await closeBurn(trx, { intent_id, sequence })
    if (success) continue
    await trx('reservation')
      .where({ intent_id, sequence })
      .update({ released_at: trx.raw('clock_timestamp()') })
  }
  await trx('chain_tx')
    .where({ chain_id: chainId, state: 'mined' })
    .where('block_number', '<=', upTo)
    .update({ state: 'final' })
  await trx('block_header').where({ chain_id: chainId }).where('number', '<', upTo).delete()
  await trx('chain').where({ id: chainId }).update({ finalized_block: upTo })
}
