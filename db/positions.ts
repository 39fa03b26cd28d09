import { selectScoped } from './scope.js'
import type { Db } from './connect.js'

/** What our operations have put into a market, up to the block that was booked when it was read. */
export type Deposits = {
  chainId: bigint
  bookedHash: string
  /** Base units by the contract of the market. */
  deposited: { market: string; units: bigint }[]
}

type Row = {
  chainId: bigint
  bookedHash: string
  deposited: { market: string; units: string }[] | null
}

/**
 * What a wallet has deposited on each booked chain, and the block to which this holds: a balance read at
 * another one would count a deposit that this sum does not have, or not yet hold one that it has.
 */
export async function readDeposits(
  db: Db,
  accountId: string,
  walletId: string,
): Promise<Deposits[]> {
  const query = db('chain as c').select(
    'c.id as chainId',
    'c.booked_hash as bookedHash',
    db.raw(`(${DEPOSITED}) as deposited`, [accountId, walletId]),
  )
  const rows = await selectScoped<Row>(db, accountId, query)
  return rows.map(({ deposited, ...row }) => ({
    ...row,
    deposited: (deposited ?? []).map(({ market, units }) => ({ market, units: BigInt(units) })),
  }))
}

const DEPOSITED = `select json_agg(json_build_object('market', market, 'units', units::text))
  from (
    select s.step ->> 'market' as market, sum(o.units) as units
    from operation o
    join intent i on i.id = o.intent_id
    cross join lateral json_array_elements(i.plan -> 'steps') as s (step)
    where o.account_id = ? and o.wallet_id = ? and o.chain_id = c.id and o.kind = 'deposit'
      and o.state in ('mined', 'confirmed', 'final') and o.success and o.units is not null
      and (s.step ->> 'sequence')::int = o.sequence
    group by 1
  ) d`
