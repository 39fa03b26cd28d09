import { selectScoped } from '../client/scope.js'
import type { Db } from '../client/connect.js'

/** Deposits into and withdrawals from markets by our operations, up to the indexed block. */
export type Deposits = {
  chainId: bigint
  indexedHash: string
  /** Base units of each market's underlying token, by the market's contract. */
  moved: MarketFlow[]
}
type MarketFlow = { market: string; deposited: bigint; withdrawn: bigint }

type DepositsRow = {
  chainId: bigint
  indexedHash: string
  moved: { market: string; deposited: string; withdrawn: string }[] | null
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
    db.raw(`(${MOVED}) as moved`, [accountId, walletId]),
  )
  const rows = await selectScoped<DepositsRow>(db, accountId, query)
  return rows.map(({ moved, ...row }) => ({
    ...row,
    moved: (moved ?? []).map(({ market, deposited, withdrawn }) => ({
      market,
      deposited: BigInt(deposited),
      withdrawn: BigInt(withdrawn),
    })),
  }))
}

const MOVED = `select json_agg(json_build_object(
    'market', market, 'deposited', deposited::text, 'withdrawn', withdrawn::text))
  from (
    select s.step ->> 'market' as market,
      coalesce(sum(o.units) filter (where o.kind = 'deposit'), 0) as deposited,
      coalesce(sum(o.units) filter (where o.kind = 'withdraw'), 0) as withdrawn
    from operation o
    join intent i on i.id = o.intent_id
    cross join lateral json_array_elements(i.plan -> 'steps') as s (step)
    where o.account_id = ? and o.wallet_id = ? and o.chain_id = c.id and o.kind in ('deposit', 'withdraw')
      and o.state in ('mined', 'confirmed', 'final') and o.success and o.units is not null
      and (s.step ->> 'sequence')::int = o.sequence
    group by 1
  ) d`
