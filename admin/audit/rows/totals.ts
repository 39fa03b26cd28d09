import type { Db } from '../../../db/client/connect.js'
import type { RowPage } from './rows.js'

/** A sender, or the treasury. `fundedUnits`: base units of USDC paid by its confirmed fundings. */
export type FundedSender = { sender: string; purpose: string; fundedUnits: string }

export async function readAllSenders(db: Db, chainId: number): Promise<FundedSender[]> {
  const { rows } = await db.raw<{ rows: FundedSender[] }>(
    `select l.sender, l.purpose, case l.purpose when 'treasury' then (
       select coalesce(sum(o.units), 0) from operation o
       where o.chain_id = l.chain_id and o.kind = 'fund' and o.success
         and o.state in ('mined', 'confirmed', 'final')) else 0 end::text as "fundedUnits"
     from sender l where l.chain_id = :chainId order by l.purpose, l.sender`,
    { chainId },
  )
  return rows
}

/** A mined transaction of a sender. One of its hashes has a receipt. */
export type MinedTransaction = { id: bigint; sender: string; valueWei: string; hashes: string[] }

/** A page of a chain's mined transactions, by id. */
export async function pageSpent(
  db: Db,
  chainId: number,
  { after, limit }: RowPage,
): Promise<MinedTransaction[]> {
  const { rows } = await db.raw<{ rows: MinedTransaction[] }>(
    `select t.id, t.sender, t.value_wei::text as "valueWei",
       array(select s.hash from chain_tx_send s where s.tx_id = t.id) as hashes
     from chain_tx t
     where t.chain_id = :chainId and t.state in ('mined', 'final') and t.id > :after::bigint
     order by t.id limit :limit`,
    { chainId, after: after || '0', limit },
  )
  return rows
}
