import { runPrepared, type Statement } from '../client/prepared.js'
import {
  capacityColumns,
  normal,
  RESERVED_IN_MARKETS,
  type IndexedBlock,
  type CapacityPool,
} from './reservations.js'
import type { Db } from '../client/connect.js'

/** A token of a wallet, and the block of its balance. */
export type TokenAtBlock = { token: string; at: IndexedBlock }

type MarketAt = { chainId: number; market: string }

/** The data that a plan uses. Balances of reorganised blocks are invalid. */
export type Counted = {
  /** One block per chain. */
  blocks: IndexedBlock[]
  tokens: TokenAtBlock[]
  capacities: CapacityPool[]
  markets: MarketAt[]
}

/** Open steps of a wallet on a market: any of them, and one that withdraws everything. */
export type MarketUse = { open: boolean; everything: boolean }

export type ReservedAmounts = {
  /** Ids of the chains whose block is still canonical, as far as indexed. */
  stillIndexed: bigint[]
  /** Reserved base units of each token balance, at its block. */
  reserved: bigint[]
  /** Base units that open intents of all accounts will deposit into each market capacity. */
  reservedInMarkets: bigint[]
  /** The use of each market. */
  uses: MarketUse[]
}

type ReservedAmountsRow = {
  stillIndexed: number[] | null
  reserved: string[] | null
  reservedInMarkets: string[] | null
  uses: MarketUse[] | null
}

/**
 * Reads all reservations that affect a plan of the wallet, in one statement. Its arrays are hidden from the planner,
 * which would otherwise replan for each call, at five times the cost of the query.
 */
export async function readReservedAmounts(
  trx: Db,
  walletId: string,
  counted: Counted,
): Promise<ReservedAmounts> {
  const values = [walletId, ...valuesOf(counted)]
  const [row] = await runPrepared<ReservedAmountsRow>(trx, reservedAmountsStatement, values)
  return toReservedAmounts(row)
}

const valuesOf = ({ blocks, tokens, capacities, markets }: Counted) => [
  blocks.map(({ chainId }) => chainId.toString()),
  blocks.map(({ number }) => number.toString()),
  blocks.map(({ hash }) => hash),
  ...columnsOf(tokens),
  ...capacityColumns(capacities),
  markets.map(({ chainId }) => chainId),
  markets.map(({ market }) => normal(market)),
]

const toReservedAmounts = (row?: ReservedAmountsRow): ReservedAmounts => ({
  stillIndexed: (row?.stillIndexed ?? []).map(BigInt),
  reserved: (row?.reserved ?? []).map(BigInt),
  reservedInMarkets: (row?.reservedInMarkets ?? []).map(BigInt),
  uses: row?.uses ?? [],
})

const columnsOf = (tokens: TokenAtBlock[]) => [
  tokens.map(({ at }) => at.chainId.toString()),
  tokens.map(({ token }) => normal(token)),
  tokens.map(({ at }) => at.number.toString()),
]

/** What is reserved and not visible as spent at the block of each token balance `q`. */
const RESERVED = `r.chain_id = q.chain and r.token = q.token and r.from_block <= q.block
  and case when r.spent_block is null then r.released_at is null else r.spent_block > q.block end`

/** The same in two parts, each with an index: a wallet may have thousands of spent or released reservations. */
const reservedUnits = (spent: string) => `select x.units from reservation x
  where x.wallet_id = $1 and x.chain_id = q.chain and x.token = q.token and x.from_block <= q.block
    and x.spent_block ${spent}`

const RESERVED_AMOUNTS = `select (
      select json_agg(h.chain_id)
      from unnest((select $2::bigint[]), (select $3::bigint[]), (select $4::text[])) as q (chain, number, hash)
      join block_header h on h.chain_id = q.chain and h.number = q.number and h.hash = q.hash
    ) as "stillIndexed", (
      select json_agg(p.units::text order by p.at) from (
        select q.at, coalesce(sum(r.units), 0) as units
        from unnest((select $5::bigint[]), (select $6::text[]), (select $7::bigint[]))
          with ordinality as q (chain, token, block, at)
        left join lateral (${reservedUnits('> q.block')} union all ${reservedUnits('is null and x.released_at is null')}) r
          on true
        group by q.at) p
    ) as reserved, (
      select json_agg(p.units order by p.at) from (${RESERVED_IN_MARKETS('$8', '$9', '$10')}) p
    ) as "reservedInMarkets", (
      select json_agg(json_build_object('open', u.open, 'everything', u.everything) order by u.at) from (
        select q.at, count(r.wallet_id) > 0 as open, coalesce(bool_or(r.everything), false) as everything
        from unnest((select $11::bigint[]), (select $12::text[])) with ordinality as q (chain, market, at)
        left join reservation r on r.wallet_id = $1 and r.chain_id = q.chain and r.market = q.market
          and r.spent_block is null and r.released_at is null
        group by q.at) u
    ) as uses`

const reservedAmountsStatement: Statement = { name: 'reservedAmounts', text: RESERVED_AMOUNTS }

/**
 * Reserved units at blocks that are not indexed, as a lower bound. A signed step may have spent its money by then, and
 * its input may have arrived. This is unknown before the block is indexed.
 */
export async function readReservedAhead(
  trx: Db,
  walletId: string,
  tokens: TokenAtBlock[],
): Promise<bigint[]> {
  if (tokens.length === 0) return []
  const values = [walletId, ...columnsOf(tokens)]
  const rows = await runPrepared<{ units: string }>(trx, aheadStatement, values)
  return rows.map(({ units }) => BigInt(units))
}

const aheadStatement: Statement = {
  name: 'reserved amounts ahead',
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
