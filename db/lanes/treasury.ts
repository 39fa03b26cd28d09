import { lockName } from '../connection/locks.js'
import { runPrepared, type Statement } from '../connection/prepared.js'
import type { Db } from '../connection/connect.js'

/** Until the transaction ends nobody else signs a funding of the chain. */
export const lockTreasury = (trx: Db, chainId: number): Promise<void> =>
  lockName(trx, `treasury/${chainId}`)

/**
 * Base units that fundings which are signed will still take from the treasury's balance as it is in a booked
 * block: those without a block, and those in a later one.
 */
export async function readSignedFundings(
  db: Db,
  { chainId, block }: { chainId: number; block: bigint },
): Promise<bigint> {
  const rows = await runPrepared<{ units: string }>(db, signedFundings, [chainId, block.toString()])
  return BigInt(rows[0]?.units ?? 0)
}

/** In two parts, each a range of one index, and the fundings by their ids: of all there may be millions. */
const signedFundings: Statement = {
  name: 'signed fundings',
  text: `select coalesce(sum(f.units), 0)::text as units
    from (
      select o.for_funding from operation o where o.chain_id = $1 and o.kind = 'fund' and o.state = 'signed'
      union all
      select o.for_funding from operation o
      where o.chain_id = $1 and o.kind = 'fund' and o.success and o.state in ('mined', 'confirmed')
        and o.block_number > $2
    ) open
    cross join lateral (select x.units from funding x where x.id = open.for_funding offset 0) f`,
}
