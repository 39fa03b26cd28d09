import { runPrepared, type Statement } from '../db/client/prepared.js'
import type { Db } from '../db/client/connect.js'
import type { OperationKind } from '../domain/intent/operation.js'

/** What the row of a final operation states about its chain. `units`: decimal text, null for a failure. */
export type FinalResult = {
  id: string
  intentId: string
  kind: OperationKind
  chainKey: string
  success: boolean
  txHash: string
  blockNumber: bigint
  blockHash: string
  logIndex: number
  units: string | null
  wallet: string
  treasury: string | null
}

/** Newest rows among which a sample is chosen. It bounds the query on a busy chain. */
const NEWEST = 1_000

type Blocks = { after: bigint; upTo: bigint }

/** A random sample of a chain's final operations in a range of blocks. */
export async function sampleFinalResults(
  db: Db,
  chainId: number,
  { after, upTo, count }: Blocks & { count: number },
): Promise<FinalResult[]> {
  const values = [chainId, after.toString(), upTo.toString(), count]
  return runPrepared<FinalResult>(db, sampleStatement, values)
}

const sampleStatement: Statement = {
  name: 'sample of final results',
  text: `select o.id, o.intent_id as "intentId", o.kind, o.chain_key as "chainKey", o.success, o.tx_hash as "txHash",
      o.block_number as "blockNumber", o.block_hash as "blockHash", o.log_index as "logIndex", o.units::text,
      w.address as wallet, t.address as treasury
    from (
      select * from operation x
      where x.chain_id = $1 and x.state = 'final' and x.block_number > $2 and x.block_number <= $3
      order by x.block_number desc limit ${NEWEST}) o
    join wallet w on w.id = o.wallet_id left join treasury t on true
    order by random() limit $4`,
}

/** The block up to which a chain's results were rechecked. Undefined before the first recheck. */
export async function findRechecked(db: Db, chainId: number): Promise<bigint | undefined> {
  const row = await db('recheck')
    .where({ chain_id: chainId })
    .first<{ block: bigint } | undefined>('block')
  return row?.block
}

export async function setRechecked(db: Db, chainId: number, block: bigint): Promise<void> {
  const row = { chain_id: chainId, block: block.toString() }
  await db('recheck').insert(row).onConflict('chain_id').merge(['block'])
}

/** Pauses a chain for a contradicted result. False when it is paused already. */
export async function pauseContradicted(db: Db, chainId: number, why: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { paused: boolean }[] }>(
    'select pause_contradicted(?, ?) as paused',
    [chainId, why],
  )
  return rows[0]?.paused === true
}
