import type { Db } from '../connection/connect.js'

/** Namespace of the advisory locks under which a chain's fundings are weighed one by one, by whatever lane. */
const TREASURY_LOCK = 7_719

/** Until the transaction ends nobody else signs a funding of the chain. */
export async function lockTreasury(trx: Db, chainId: number): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(?, ?)', [TREASURY_LOCK, chainId])
}

/**
 * Base units that fundings which are signed will still take from the treasury's balance as it is in a booked
 * block: those without a block, and those in a later one.
 */
export async function readSignedFundings(
  db: Db,
  { chainId, block }: { chainId: number; block: bigint },
): Promise<bigint> {
  const row = await db('operation as o')
    .join('funding as f', 'f.id', 'o.for_funding')
    .where({ 'o.chain_id': chainId, 'o.kind': 'fund' })
    .where((open) => {
      void open.where('o.state', 'signed').orWhere((mined) => {
        void mined
          .whereIn('o.state', ['mined', 'confirmed'])
          .where('o.success', true)
          .where('o.block_number', '>', block.toString())
      })
    })
    .sum<{ units: string | null }[]>('f.units as units')
    .first()
  return BigInt(row?.units ?? 0)
}
