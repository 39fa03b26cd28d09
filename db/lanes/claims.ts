import { runPrepared, type Statement } from '../connection/prepared.js'
import { columnsOfRooms, normal, PROMISED, type BookedBlock, type Room } from './reservations.js'
import type { Db } from '../connection/connect.js'

/** A token of a wallet, and the block at which its balance is read. */
export type PurseAt = { token: string; at: BookedBlock }

type MarketAt = { chainId: number; market: string }

/** What a plan counts on. Balances that were read at a block which has gone since say nothing. */
export type Counted = {
  /** One of each chain. */
  blocks: BookedBlock[]
  purses: PurseAt[]
  rooms: Room[]
  markets: MarketAt[]
}

/** Steps of a wallet on a market that are not over: any of them, and one that takes out everything. */
export type MarketUse = { open: boolean; everything: boolean }

export type Claims = {
  /** Ids of the chains whose block is still canonical as far as this database knows. */
  stillBooked: bigint[]
  /** Base units that are spoken for in each purse when balances are read at their blocks. */
  reserved: bigint[]
  /** Base units that open intents of all accounts will pay into each of the rooms. */
  promised: bigint[]
  /** Of each market. */
  uses: MarketUse[]
}

type ClaimRow = {
  stillBooked: number[] | null
  reserved: string[] | null
  promised: string[] | null
  uses: MarketUse[] | null
}

/**
 * What others hold of what a plan of the wallet counts on, all by one statement. Its arrays are hidden from the planner,
 * which would plan it anew for each call, as it hopes for few elements: that takes five times as long as to run it.
 */
export async function readClaims(trx: Db, walletId: string, counted: Counted): Promise<Claims> {
  const values = [walletId, ...valuesOf(counted)]
  const [row] = await runPrepared<ClaimRow>(trx, claimsStatement, values)
  return toClaims(row)
}

const valuesOf = ({ blocks, purses, rooms, markets }: Counted) => [
  blocks.map(({ chainId }) => chainId.toString()),
  blocks.map(({ number }) => number.toString()),
  blocks.map(({ hash }) => hash),
  ...columnsOf(purses),
  ...columnsOfRooms(rooms),
  markets.map(({ chainId }) => chainId),
  markets.map(({ market }) => normal(market)),
]

const toClaims = (row?: ClaimRow): Claims => ({
  stillBooked: (row?.stillBooked ?? []).map(BigInt),
  reserved: (row?.reserved ?? []).map(BigInt),
  promised: (row?.promised ?? []).map(BigInt),
  uses: row?.uses ?? [],
})

const columnsOf = (purses: PurseAt[]) => [
  purses.map(({ at }) => at.chainId.toString()),
  purses.map(({ token }) => normal(token)),
  purses.map(({ at }) => at.number.toString()),
]

/** What is reserved and not visible as spent at the block of each purse `q`. */
const RESERVED = `r.chain_id = q.chain and r.token = q.token and r.from_block <= q.block
  and case when r.spent_block is null then r.released_at is null else r.spent_block > q.block end`

/** The same in two parts, each found by its index: a wallet may have spent, or been given back, thousands of times. */
const spokenFor = (spent: string) => `select x.units from reservation x
  where x.wallet_id = $1 and x.chain_id = q.chain and x.token = q.token and x.from_block <= q.block
    and x.spent_block ${spent}`

const CLAIMS = `select (
      select json_agg(h.chain_id)
      from unnest((select $2::bigint[]), (select $3::bigint[]), (select $4::text[])) as q (chain, number, hash)
      join block_header h on h.chain_id = q.chain and h.number = q.number and h.hash = q.hash
    ) as "stillBooked", (
      select json_agg(p.units::text order by p.at) from (
        select q.at, coalesce(sum(r.units), 0) as units
        from unnest((select $5::bigint[]), (select $6::text[]), (select $7::bigint[]))
          with ordinality as q (chain, token, block, at)
        left join lateral (${spokenFor('> q.block')} union all ${spokenFor('is null and x.released_at is null')}) r
          on true
        group by q.at) p
    ) as reserved, (
      select json_agg(p.units order by p.at) from (${PROMISED('$8', '$9', '$10')}) p
    ) as promised, (
      select json_agg(json_build_object('open', u.open, 'everything', u.everything) order by u.at) from (
        select q.at, count(r.wallet_id) > 0 as open, coalesce(bool_or(r.everything), false) as everything
        from unnest((select $11::bigint[]), (select $12::text[])) with ordinality as q (chain, market, at)
        left join reservation r on r.wallet_id = $1 and r.chain_id = q.chain and r.market = q.market
          and r.spent_block is null and r.released_at is null
        group by q.at) u
    ) as uses`

const claimsStatement: Statement = { name: 'claims', text: CLAIMS }

/**
 * What is spoken for in purses at blocks that are not booked: the least of it. What was signed may be spent by
 * then, and what brings money to a step may have brought it; nobody can tell before the block is booked.
 */
export async function readReservedAhead(
  trx: Db,
  walletId: string,
  purses: PurseAt[],
): Promise<bigint[]> {
  if (purses.length === 0) return []
  const values = [walletId, ...columnsOf(purses)]
  const rows = await runPrepared<{ units: string }>(trx, aheadStatement, values)
  return rows.map(({ units }) => BigInt(units))
}

const aheadStatement: Statement = {
  name: 'claims ahead',
  text: `select coalesce(sum(r.units), 0)::text as units
    from unnest($2::bigint[], $3::text[], $4::bigint[]) with ordinality as q (chain, token, block, at)
    left join reservation r on r.wallet_id = $1 and (
      ${RESERVED} and not exists (
        select from operation o
        where o.intent_id = r.intent_id and o.sequence = r.sequence and o.state = 'signed')
      or r.chain_id = q.chain and r.token = q.token and r.from_block is null and r.released_at is null
        and exists (
          select from operation o
          where o.intent_id = r.intent_id and o.sequence = r.fed_by and o.state = 'signed'
            and o.kind <> 'bridge'))
    group by q.at order by q.at`,
}
