import { selectScoped } from '../client/scope.js'
import type { Db } from '../client/connect.js'
import type { Flow } from '../../domain/earnings.js'

/** Deposits into and withdrawals from markets by our operations, up to the indexed block. */
export type Deposits = {
  chainId: bigint
  indexedHash: string
  /** Base units of each market's underlying token, in the order of the chain. `market`: its contract. */
  flows: MarketFlow[]
}
type MarketFlow = Flow & { market: string }

type DepositsRow = {
  chainId: bigint
  indexedHash: string
  flows:
    (Pick<MarketFlow, 'market' | 'kind'> & { units: string; sharePrice: string | null })[] | null
}

/**
 * A wallet's deposits and withdrawals on each indexed chain, and the block to which they apply. A balance from another
 * block would include a deposit that the sum does not, or the reverse.
 */
export async function readDeposits(
  db: Db,
  accountId: string,
  walletId: string,
): Promise<Deposits[]> {
  const query = db('chain as c').select(
    'c.id as chainId',
    'c.indexed_hash as indexedHash',
    db.raw(`(${FLOWS}) as flows`, [accountId, walletId]),
  )
  const rows = await selectScoped<DepositsRow>(db, accountId, query)
  return rows.map(({ flows, ...row }) => ({
    ...row,
    flows: (flows ?? []).map(({ units, sharePrice, ...flow }) => ({
      ...flow,
      units: BigInt(units),
      sharePrice: sharePrice === null ? null : BigInt(sharePrice),
    })),
  }))
}

const FLOWS = `select json_agg(json_build_object(
    'market', s.step ->> 'market', 'kind', o.kind, 'units', o.units::text, 'sharePrice', o.share_price::text)
    order by o.block_number, o.log_index)
  from operation o
  join intent i on i.id = o.intent_id
  cross join lateral json_array_elements(i.plan -> 'steps') as s (step)
  where o.account_id = ? and o.wallet_id = ? and o.chain_id = c.id and o.kind in ('deposit', 'withdraw')
    and o.state in ('mined', 'confirmed', 'final') and o.success and o.units is not null
    and (s.step ->> 'sequence')::int = o.sequence`
