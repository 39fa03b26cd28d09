import { closeBurn } from '../burns.js'
import { detachReverted } from '../signing/inclusion.js'
import type { Db } from '../../db/client/connect.js'
import type { OperationKind } from '../../domain/intent/operation.js'
import type { OpenSend } from './watched.js'

export type BlockId = { number: bigint; hash: string }
/** A block with its header data. `baseFeeWei`: base fee per unit of gas. Absent: the header was not read. */
export type BlockToIndex = BlockId & { baseFeeWei?: bigint }
export type IndexedChain = { indexed: BlockId; finalizedBlock: bigint }

/** The indexed state of a chain. Undefined before its first block is indexed. */
export async function findChainState(db: Db, chainId: number): Promise<IndexedChain | undefined> {
  const row = await db('chain')
    .where({ id: chainId })
    .first<{ number: bigint; hash: string; finalizedBlock: bigint } | undefined>(
      'indexed_block as number',
      'indexed_hash as hash',
      'finalized_block as finalizedBlock',
    )
  if (!row) return undefined
  const { number, hash, finalizedBlock } = row
  return { indexed: { number, hash }, finalizedBlock }
}

/** Starts indexing a chain at a final block. No transaction of ours may be in or before it. */
export async function insertChain(
  db: Db,
  chain: { id: number; name: string; at: BlockToIndex },
): Promise<void> {
  const { id, name, at } = chain
  await db.transaction(async (trx) => {
    await trx('chain').insert({
      id,
      name,
      indexed_block: at.number.toString(),
      indexed_hash: at.hash,
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

/** The stored hash of a block. `isGap`: it has none, and lies between two blocks that have one. */
async function findHeader(
  trx: Db,
  chainId: number,
  number: bigint,
): Promise<{ hash: string | null; isGap: boolean }> {
  const { rows } = await trx.raw<{ rows: { hash: string | null; isGap: boolean }[] }>(HEADER, {
    chain: chainId,
    number: number.toString(),
  })
  return rows[0] ?? { hash: null, isGap: false }
}

const HEADER = `
with h as (select number, hash from block_header where chain_id = :chain),
found as (select (select hash from h where number = :number) as hash)
select hash, hash is null and exists (select from h where number < :number)
  and exists (select from h where number > :number) as "isGap"
from found`

/** A move of the indexed block: forward, or back after a reorg. */
export type IndexedMove = { from: BlockId; to: BlockToIndex }

/** Moves the indexed block. Fails when another leader moved it. */
export async function setIndexed(trx: Db, chainId: number, { from, to }: IndexedMove) {
  const changed = await trx('chain')
    .where({ id: chainId, indexed_hash: from.hash })
    .update({
      indexed_block: to.number.toString(),
      indexed_hash: to.hash,
      base_fee_wei: to.baseFeeWei?.toString() ?? null,
      indexed_at: trx.raw('clock_timestamp()'),
    })
  if (changed !== 1) throw new Error('Another process moved the indexed block.')
}

/**
 * Frees the money of failures that were confirmed at least `failureHoldSeconds` ago. A reorg that reverses such a failure
 * reserves it again.
 */
export async function releaseSettled(
  trx: Db,
  chainId: number,
  failureHoldSeconds: number,
): Promise<void> {
  await trx('chain').where({ id: chainId }).update({ failure_hold_seconds: failureHoldSeconds })
  await trx.raw(RELEASE_SETTLED, [chainId])
}

const RELEASE_SETTLED = `
update reservation r set released_at = clock_timestamp()
from operation o
where o.chain_id = ? and o.state = 'confirmed' and not o.success and settles_at(o) <= clock_timestamp()
  and r.intent_id = o.intent_id and r.sequence = o.sequence and r.released_at is null`

/** The stored headers, newest first. */
export async function readHeaders(db: Db, chainId: number): Promise<BlockId[]> {
  return db('block_header')
    .where({ chain_id: chainId })
    .orderBy('number', 'desc')
    .select<BlockId[]>('number', 'hash')
}

type StepRow = { intent_id: string; sequence: number; kind: OperationKind }

/** A transaction of ours: the send that was mined, and its block. */
type MinedSend = {
  send: Pick<OpenSend, 'txId' | 'n'>
  receipt: { blockNumber: bigint; blockHash: string }
}

/**
 * Records that transactions of ours are in blocks, after the outcomes of these blocks. Operations without an outcome are
 * detached, and the signer resubmits them: their bundle reverted, or other bytes of the nonce were mined.
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
  await detachReverted(
    trx,
    rows.map(({ id }) => id),
  )
}

/** Confirms mined operations up to a block, except those in `except`, for which the chain reports something else. */
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
 * Stops watching everything up to a finalized block, unless another header is stored at its height. The failures up to it
 * are final, so their reserved money is released.
 */
export async function finalizeUpTo(trx: Db, chainId: number, finalized: BlockId): Promise<void> {
  const upTo = finalized.number.toString()
  const stored = await findHeader(trx, chainId, finalized.number)
  if (stored.hash ? stored.hash !== finalized.hash : !stored.isGap) return
  if (stored.isGap) await insertHeaders(trx, chainId, [finalized])
  const done = await trx('operation')
    .where({ chain_id: chainId, state: 'confirmed' })
    .where('block_number', '<=', upTo)
    .update({ state: 'final' })
    .returning<(StepRow & { success: boolean })[]>(['intent_id', 'sequence', 'kind', 'success'])
  for (const { intent_id, sequence, kind, success } of done) {
    if (success && kind === 'mint') await closeBurn(trx, { intent_id, sequence })
    if (success) continue
    await trx('reservation')
      .where({ intent_id, sequence, released_at: null })
      .update({ released_at: trx.raw('clock_timestamp()') })
  }
  await trx('chain_tx')
    .where({ chain_id: chainId, state: 'mined' })
    .where('block_number', '<=', upTo)
    .update({ state: 'final' })
  await trx('block_header').where({ chain_id: chainId }).where('number', '<', upTo).delete()
  await trx('chain').where({ id: chainId }).update({ finalized_block: upTo })
}
