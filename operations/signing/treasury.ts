import { lockName } from '../../db/client/locks.js'
import { runPrepared, type Statement } from '../../db/client/prepared.js'
import type { Db } from '../../db/client/connect.js'

/** Serializes signing of fundings of a chain until the transaction ends. */
export const lockTreasury = (trx: Db, chainId: number): Promise<void> =>
  lockName(trx, `treasury/${chainId}`)

/**
 * Base units that signed fundings will still take from the treasury's balance at an indexed block: fundings without a
 * block, or in a later one.
 */
export async function readSignedFundings(
  db: Db,
  { chainId, block }: { chainId: number; block: bigint },
): Promise<bigint> {
  const rows = await runPrepared<{ units: string }>(db, signedFundings, [chainId, block.toString()])
  return BigInt(rows[0]?.units ?? 0)
}

/** Two index ranges, and the fundings by id, because there may be millions of operations. */
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
