import { lockName } from '../connection/locks.js'
import { runPrepared, type Statement } from '../connection/prepared.js'
import type { Db } from '../connection/connect.js'

/** The last block of a chain whose outcomes are in the database. */
export type BookedBlock = { chainId: bigint; number: bigint; hash: string }

/** `baseFeeWei`: per unit of gas in it, where that is known. `isRecent`: it was booked within the last minute. */
export type KnownBlock = BookedBlock & { baseFeeWei: bigint | undefined; isRecent: boolean }

export async function readBookedBlocks(db: Db): Promise<KnownBlock[]> {
  const rows = await db('chain').select<
    (BookedBlock & { fee: string | null; isRecent: boolean })[]
  >(
    'id as chainId',
    'booked_block as number',
    'booked_hash as hash',
    'base_fee_wei as fee',
    db.raw(`booked_at > clock_timestamp() - interval '1 minute' as "isRecent"`),
  )
  return rows.map(({ fee, ...row }) => ({
    ...row,
    baseFeeWei: fee === null ? undefined : BigInt(fee),
  }))
}

/**
 * Holds the wallet's row until the transaction ends, so that its intents are planned one by one. Rows
 * that only refer to the wallet can be written meanwhile.
 */
export async function lockWallet(trx: Db, walletId: string): Promise<void> {
  await runPrepared(trx, lockStatement, [walletId])
}

const lockStatement: Statement = {
  name: 'lock wallet',
  text: 'select id from wallet where id = $1 for no key update',
}

/** One spelling of an address: another case must not hide what is reserved. */
export const normal = (address: string) => address.toLowerCase()

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

/** SQL that reads what open intents of all accounts will pay into each room, by parameters with its parts. */
export const PROMISED = (chains: string, markets: string, tokens: string) => `
  select q.at, market_reserved(q.chain, string_to_array(q.markets, ','), q.token)::text as units
  from unnest((select ${chains}::bigint[]), (select ${markets}::text[]), (select ${tokens}::text[]))
    with ordinality as q (chain, markets, token, at)`

/** The values of `PROMISED`. */
export const columnsOfRooms = (rooms: Room[]) => [
  rooms.map(({ chainId }) => chainId),
  rooms.map(({ markets }) => markets.map(normal).join(',')),
  rooms.map(({ token }) => normal(token)),
]

const promisedStatement: Statement = {
  name: 'promised',
  text: `${PROMISED('$1', '$2', '$3')} order by q.at`,
}

/** Base units that open intents of all accounts will pay into each of the rooms. */
export async function readPromised(trx: Db, rooms: Room[]): Promise<bigint[]> {
  const values = columnsOfRooms(rooms)
  const rows = await runPrepared<{ units: string }>(trx, promisedStatement, values)
  return rows.map(({ units }) => BigInt(units))
}

/** Lets those who plan a deposit into a room go one by one until the transaction ends. */
export async function lockRoom(trx: Db, { chainId, markets, token }: Room): Promise<void> {
  const name = [chainId, ...markets.map(normal).sort(), normal(token)].join('/')
  await lockName(trx, `room/${name}`)
}

/** What a step of an intent will spend. */
export type Claim = {
  sequence: number
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

export type Reservation = Claim & { intentId: string; walletId: string }

/** SQL that reserves claims of an intent; `first` is the number of the first parameter with their parts. */
export const INSERT_CLAIMS = (intentId: string, walletId: string, first: number) => {
  const types = ['int', 'bigint', 'text', 'numeric', 'int', 'text', 'boolean']
  const parts = types.map((type, i) => `$${first + i}::${type}[]`)
  return `
    insert into reservation
      (intent_id, wallet_id, sequence, chain_id, token, units, from_block, fed_by, market, everything)
    select ${intentId}::text, ${walletId}::text, c.sequence, c.chain, c.token, c.units,
      case when c.fed_by is null then 0 end, c.fed_by, c.market, c.everything
    from unnest(${parts.join(', ')}) as c (sequence, chain, token, units, fed_by, market, everything)`
}

/** The values of `INSERT_CLAIMS`, from its `first` on. */
export const columnsOfClaims = (claims: Claim[]) => [
  claims.map(({ sequence }) => sequence),
  claims.map(({ chainId }) => chainId),
  claims.map(({ token }) => normal(token)),
  claims.map(({ units }) => units.toString()),
  claims.map(({ fedBy }) => fedBy ?? null),
  claims.map(({ market }) => (market === undefined ? null : normal(market))),
  claims.map(({ everything }) => everything ?? false),
]

const reserveStatement: Statement = { name: 'reserve', text: INSERT_CLAIMS('$1', '$2', 3) }

/** Reserves what a step of a stored intent will spend. */
export async function insertReservation(
  trx: Db,
  { intentId, walletId, ...claim }: Reservation,
): Promise<void> {
  await runPrepared(trx, reserveStatement, [intentId, walletId, ...columnsOfClaims([claim])])
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
