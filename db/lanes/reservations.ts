import type { Knex } from 'knex'
import { readTogether } from '../connection/gather.js'
import type { Db } from '../connection/connect.js'

/** The last block of a chain whose outcomes are in the database. */
export type BookedBlock = { chainId: bigint; number: bigint; hash: string }

/** `isRecent`: it was booked within the last minute. */
export type KnownBlock = BookedBlock & { isRecent: boolean }

export const readBookedBlocks = readTogether((db) =>
  db('chain').select<KnownBlock[]>(
    'id as chainId',
    'booked_block as number',
    'booked_hash as hash',
    db.raw(`booked_at > clock_timestamp() - interval '1 minute' as "isRecent"`),
  ),
)

/**
 * The ids of the chains of which a block, one for each, is still canonical as far as this database knows. Balances
 * that were read at a block which has gone since say nothing.
 */
export async function listStillBooked(trx: Db, blocks: BookedBlock[]): Promise<bigint[]> {
  const { rows } = await trx.raw<{ rows: { chainId: bigint }[] }>(
    `select h.chain_id as "chainId" from block_header h
     join unnest(?::bigint[], ?::bigint[], ?::text[]) as q (chain, number, hash)
       on h.chain_id = q.chain and h.number = q.number and h.hash = q.hash`,
    [
      blocks.map(({ chainId }) => chainId.toString()),
      blocks.map(({ number }) => number.toString()),
      blocks.map(({ hash }) => hash),
    ],
  )
  return rows.map(({ chainId }) => BigInt(chainId))
}

/**
 * Holds the wallet's row until the transaction ends, so that its intents are planned one by one. Rows
 * that only refer to the wallet can be written meanwhile.
 */
export async function lockWallet(trx: Db, walletId: string): Promise<void> {
  await trx('wallet').where({ id: walletId }).forNoKeyUpdate().first('id')
}

/** One spelling of an address: another case must not hide what is reserved. */
const normal = (token: string) => token.toLowerCase()

/** A token of a wallet. */
type Purse = { walletId: string; token: string }

/** What counts when balances are read at block `at`: what is reserved and not visible as spent there. */
function reservedAt(trx: Db, { walletId, token }: Purse, at: BookedBlock) {
  const number = at.number.toString()
  return trx('reservation as r')
    .where({ 'r.wallet_id': walletId, 'r.chain_id': at.chainId.toString() })
    .where('r.token', normal(token))
    .where('r.from_block', '<=', number)
    .whereRaw('(r.spent_block > ?::bigint or r.spent_block is null and r.released_at is null)', [
      number,
    ])
}

/** A token of a wallet, and the block at which its balance is read. */
type PurseAt = { token: string; at: BookedBlock }

/** Base units that are spoken for in each of a wallet's purses when balances are read at their blocks. */
export async function readReserved(
  trx: Db,
  walletId: string,
  purses: PurseAt[],
): Promise<bigint[]> {
  if (purses.length === 0) return []
  const { rows } = await trx.raw<{ rows: { units: string }[] }>(
    `select coalesce(sum(r.units), 0)::text as units
     from unnest(?::bigint[], ?::text[], ?::bigint[]) with ordinality as q (chain, token, block, at)
     left join reservation r on r.wallet_id = ? and r.chain_id = q.chain and r.token = q.token
       and r.from_block <= q.block
       and case when r.spent_block is null then r.released_at is null else r.spent_block > q.block end
     group by q.at order by q.at`,
    [
      purses.map(({ at }) => at.chainId.toString()),
      purses.map(({ token }) => normal(token)),
      purses.map(({ at }) => at.number.toString()),
      walletId,
    ],
  )
  return rows.map(({ units }) => BigInt(units))
}

/**
 * The same at a block that is not booked: the least that is spoken for there. What was signed may be spent by
 * then, and what brings money to a step may have brought it; nobody can tell before the block is booked.
 */
export async function readReservedAhead(trx: Db, purse: Purse, at: BookedBlock): Promise<bigint> {
  const own = trx('operation as o')
    .whereRaw('o.intent_id = r.intent_id and o.sequence = r.sequence')
    .where('o.state', 'signed')
  const unspent = await sumUnits(reservedAt(trx, purse, at).whereNotExists(own))
  const feeder = trx('operation as o')
    .whereRaw('o.intent_id = r.intent_id and o.sequence = r.fed_by')
    .where('o.state', 'signed')
    .whereNot('o.kind', 'bridge')
  const arriving = trx('reservation as r')
    .where({ 'r.wallet_id': purse.walletId, 'r.chain_id': at.chainId.toString() })
    .where('r.token', normal(purse.token))
    .whereNull('r.from_block')
    .whereNull('r.released_at')
    .whereExists(feeder)
  return unspent + (await sumUnits(arriving))
}

async function sumUnits(query: Knex.QueryBuilder): Promise<bigint> {
  const row = await query
    .sum<{ units: string | null }[]>('r.units as units')
    .first<{ units: string | null } | undefined>()
  return BigInt(row?.units ?? 0)
}

/** Money that a step of an intent holds. `hasFailed`: its call failed, which a reorg could still turn round. */
export type Holding = {
  intentId: string
  step: number
  chainId: bigint
  units: bigint
  since: Date
  hasFailed: boolean
}

/** What holds a token of a wallet when balances are read at block `at`, the oldest first, some of it. */
export async function readHoldings(trx: Db, purse: Purse, at: BookedBlock): Promise<Holding[]> {
  const rows = await reservedAt(trx, purse, at)
    .join('intent as i', 'i.id', 'r.intent_id')
    .orderBy(['i.created_at', 'r.intent_id', 'r.sequence'])
    .limit(MOST_HOLDINGS)
    .select<(Holding & { units: string })[]>(
      'r.intent_id as intentId',
      'r.sequence as step',
      'r.chain_id as chainId',
      'r.units',
      'i.created_at as since',
      trx.raw(`exists (select from operation o where o.intent_id = r.intent_id
        and o.sequence = r.sequence and o.state in ('mined', 'confirmed') and not o.success)
        as "hasFailed"`),
    )
  return rows.map(({ units, ...row }) => ({ ...row, units: BigInt(units) }))
}

/** Nobody reads more, and a wallet may have thousands. */
const MOST_HOLDINGS = 10

/** What deposits pay into markets that share their room, by one token. */
export type Room = { chainId: number; markets: string[]; token: string }

/** Base units that open intents of all accounts will pay into each of the rooms. */
export async function readPromised(trx: Db, rooms: Room[]): Promise<bigint[]> {
  if (rooms.length === 0) return []
  const { rows } = await trx.raw<{ rows: { units: string }[] }>(
    `select market_reserved(q.chain, string_to_array(q.markets, ','), q.token) as units
     from unnest(?::bigint[], ?::text[], ?::text[]) with ordinality as q (chain, markets, token, at)
     order by q.at`,
    [
      rooms.map(({ chainId }) => chainId),
      rooms.map(({ markets }) => markets.map(normal).join(',')),
      rooms.map(({ token }) => normal(token)),
    ],
  )
  return rows.map(({ units }) => BigInt(units))
}

/** Lets those who plan a deposit into a room go one by one until the transaction ends. */
export async function lockRoom(trx: Db, { chainId, markets, token }: Room): Promise<void> {
  const name = [chainId, ...markets.map(normal).sort(), normal(token)].join('/')
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`room/${name}`])
}

export type Reservation = {
  intentId: string
  sequence: number
  walletId: string
  chainId: number
  token: string
  units: bigint
  /** Sequence of the step that brings the money; absent when it is there already. */
  fedBy?: number
  /** The market that the step pays into or out of. */
  market?: string
  /** The step takes out whatever is there. */
  everything?: boolean
}

export async function insertReservation(trx: Db, reservation: Reservation): Promise<void> {
  await trx('reservation').insert({
    intent_id: reservation.intentId,
    sequence: reservation.sequence,
    wallet_id: reservation.walletId,
    chain_id: reservation.chainId,
    token: normal(reservation.token),
    units: reservation.units.toString(),
    from_block: reservation.fedBy === undefined ? 0 : null,
    fed_by: reservation.fedBy ?? null,
    market: reservation.market === undefined ? null : normal(reservation.market),
    everything: reservation.everything ?? false,
  })
}

/** Steps of a wallet on a market that are not over: any of them, and one that takes out everything. */
export async function readMarketUse(
  trx: Db,
  at: { walletId: string; chainId: number; market: string },
): Promise<{ open: boolean; everything: boolean }> {
  const rows = await trx('reservation')
    .where({ wallet_id: at.walletId, chain_id: at.chainId, market: normal(at.market) })
    .whereNull('spent_block')
    .whereNull('released_at')
    .select<{ everything: boolean }[]>('everything')
  return { open: rows.length > 0, everything: rows.some(({ everything }) => everything) }
}

/**
 * Gives back what the steps of an ended intent will never spend: those without an operation, and those
 * whose operation was never signed.
 */
export async function releaseUnsigned(trx: Db, intentId: string): Promise<void> {
  await trx('reservation as r')
    .where('r.intent_id', intentId)
    .whereNull('r.released_at')
    .whereNotExists(
      trx('operation as o')
        .whereRaw('o.intent_id = r.intent_id and o.sequence = r.sequence')
        .whereNotIn('o.state', ['queued', 'deferred', 'rejected', 'cancelled']),
    )
    .update({ released_at: trx.raw('clock_timestamp()') })
}
