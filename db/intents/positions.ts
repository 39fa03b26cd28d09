import { selectScoped } from '../connection/scope.js'
import type { Db } from '../connection/connect.js'

/** What our operations have put into markets and taken out, up to the block that was booked when it was read. */
export type Deposits = {
  chainId: bigint
  bookedHash: string
  /** Base units of what each market takes, by its contract. */
  moved: Moved[]
}
type Moved = { market: string; deposited: bigint; withdrawn: bigint }

type Row = {
  chainId: bigint
  bookedHash: string
  moved: { market: string; deposited: string; withdrawn: string }[] | null
}

/**
 * What a wallet has put into markets on each booked chain, and the block to which this holds: a balance read at
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
    db.raw(`(${MOVED}) as moved`, [accountId, walletId]),
  )
  const rows = await selectScoped<Row>(db, accountId, query)
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
