import { lockName } from '../client/locks.js'
import { runPrepared, type Statement } from '../client/prepared.js'
import type { Db } from '../client/connect.js'

/** The last indexed block of a chain. The outcomes of all blocks up to it are in the database. */
export type IndexedBlock = { chainId: bigint; number: bigint; hash: string }

/** `baseFeeWei`: base fee per unit of gas, where known. `isRecent`: indexed lately, also by an indexer of an idle chain. */
export type KnownBlock = IndexedBlock & { baseFeeWei: bigint | undefined; isRecent: boolean }

export async function readIndexedBlocks(db: Db): Promise<KnownBlock[]> {
  const rows = await db('chain').select<
    (IndexedBlock & { fee: string | null; isRecent: boolean })[]
  >(
    'id as chainId',
    'indexed_block as number',
    'indexed_hash as hash',
    'base_fee_wei as fee',
    db.raw(`indexed_at > clock_timestamp() - interval '100 seconds' as "isRecent"`),
  )
  return rows.map(({ fee, ...row }) => ({
    ...row,
    baseFeeWei: fee === null ? undefined : BigInt(fee),
  }))
}

/**
 * Locks the wallet's row until the transaction ends, so that its intents are planned one after the other. Rows that only
 * reference the wallet can still be written.
 */
export async function lockWallet(trx: Db, walletId: string): Promise<void> {
  await runPrepared(trx, lockStatement, [walletId])
}

const lockStatement: Statement = {
  name: 'lock wallet',
  text: 'select id from wallet where id = $1 for no key update',
}

/** Canonical spelling of an address. Different cases must not hide reservations. */
export const normal = (address: string) => address.toLowerCase()

/** A token of a wallet. */
type WalletToken = { walletId: string; token: string }

/** Reservations that count at block `at`: not released, and not visible as spent there. */
function reservedAt(trx: Db, { walletId, token }: WalletToken, at: IndexedBlock) {
  const number = at.number.toString()
  return trx('reservation as r')
    .where({ 'r.wallet_id': walletId, 'r.chain_id': at.chainId.toString() })
    .where('r.token', normal(token))
    .where('r.from_block', '<=', number)
    .whereRaw('(r.spent_block > ?::bigint or r.spent_block is null and r.released_at is null)', [
      number,
    ])
}

/**
 * Money that a step reserves. `hasFailed`: its call failed, but a reorg could still reverse the failure, until
 * `settlesAt`; null while it is not confirmed.
 */
export type ReservedByStep = {
  intentId: string
  step: number
  chainId: bigint
  units: bigint
  since: Date
  hasFailed: boolean
  settlesAt: Date | null
}

/** Steps that reserve a token of a wallet at block `at`, the oldest first, at most `MOST_HOLDINGS`. */
export async function readReservationsOfToken(
  trx: Db,
  walletToken: WalletToken,
  at: IndexedBlock,
): Promise<ReservedByStep[]> {
  const rows = await reservedAt(trx, walletToken, at)
    .join('intent as i', 'i.id', 'r.intent_id')
    .leftJoin('operation as o', (failed) => {
      failed.on('o.intent_id', 'r.intent_id').andOn('o.sequence', 'r.sequence')
      failed.andOn(trx.raw(`o.state in ('mined', 'confirmed') and not o.success`))
    })
    .orderBy(['i.created_at', 'r.intent_id', 'r.sequence'])
    .limit(MOST_HOLDINGS)
    .select<(ReservedByStep & { units: string })[]>(
      'r.intent_id as intentId',
      'r.sequence as step',
      'r.chain_id as chainId',
      'r.units',
      'i.created_at as since',
      trx.raw(`o.id is not null as "hasFailed", settles_at(o) as "settlesAt"`),
    )
  return rows.map(({ units, ...row }) => ({ ...row, units: BigInt(units) }))
}

/** The most steps that callers need. A wallet may have thousands. */
const MOST_HOLDINGS = 10

/** Market capacity: markets that share a capacity for deposits, and their token. */
export type CapacityPool = { chainId: number; markets: string[]; token: string }

/** SQL that reads the deposits of open intents of all accounts into each capacity, from parameters with its parts. */
export const RESERVED_IN_MARKETS = (chains: string, markets: string, tokens: string) => `
  select q.at, market_reserved(q.chain, string_to_array(q.markets, ','), q.token)::text as units
  from unnest((select ${chains}::bigint[]), (select ${markets}::text[]), (select ${tokens}::text[]))
    with ordinality as q (chain, markets, token, at)`

/** The values of `RESERVED_IN_MARKETS`. */
export const capacityColumns = (capacities: CapacityPool[]) => [
  capacities.map(({ chainId }) => chainId),
  capacities.map(({ markets }) => markets.map(normal).join(',')),
  capacities.map(({ token }) => normal(token)),
]

const reservedInMarketsStatement: Statement = {
  name: 'reservedInMarkets',
  text: `${RESERVED_IN_MARKETS('$1', '$2', '$3')} order by q.at`,
}

/** Base units that open intents of all accounts will deposit into each capacity. */
export async function readReservedInMarkets(
  trx: Db,
  capacities: CapacityPool[],
): Promise<bigint[]> {
  const values = capacityColumns(capacities)
  const rows = await runPrepared<{ units: string }>(trx, reservedInMarketsStatement, values)
  return rows.map(({ units }) => BigInt(units))
}

/** Serializes planning of deposits into a market capacity until the transaction ends. */
export async function lockCapacityPool(
  trx: Db,
  { chainId, markets, token }: CapacityPool,
): Promise<void> {
  const name = [chainId, ...markets.map(normal).sort(), normal(token)].join('/')
  await lockName(trx, `capacity/${name}`)
}

/** The reservation of a step. */
export type PlannedReservation = {
  sequence: number
  chainId: number
  token: string
  units: bigint
  /** Sequence of the step that delivers the money. Absent when the money is available. */
  fedBy?: number
  /** The market of the deposit or withdrawal. */
  market?: string
  /** True when the step withdraws the whole position. */
  everything?: boolean
}

export type Reservation = PlannedReservation & { intentId: string; walletId: string }

/** SQL that inserts the reservations of an intent. `first` is the number of the first parameter with their parts. */
export const INSERT_RESERVATIONS = (intentId: string, walletId: string, first: number) => {
  const types = ['int', 'bigint', 'text', 'numeric', 'int', 'text', 'boolean']
  const parts = types.map((type, i) => `$${first + i}::${type}[]`)
  return `
    insert into reservation
      (intent_id, wallet_id, sequence, chain_id, token, units, from_block, fed_by, market, everything)
    select ${intentId}::text, ${walletId}::text, c.sequence, c.chain, c.token, c.units,
      case when c.fed_by is null then 0 end, c.fed_by, c.market, c.everything
    from unnest(${parts.join(', ')}) as c (sequence, chain, token, units, fed_by, market, everything)`
}

/** The values of `INSERT_RESERVATIONS`, starting at `first`. */
export const reservationColumns = (reservations: PlannedReservation[]) => [
  reservations.map(({ sequence }) => sequence),
  reservations.map(({ chainId }) => chainId),
  reservations.map(({ token }) => normal(token)),
  reservations.map(({ units }) => units.toString()),
  reservations.map(({ fedBy }) => fedBy ?? null),
  reservations.map(({ market }) => (market === undefined ? null : normal(market))),
  reservations.map(({ everything }) => everything ?? false),
]

const reserveStatement: Statement = { name: 'reserve', text: INSERT_RESERVATIONS('$1', '$2', 3) }

/** Inserts the reservation of a step of a stored intent. */
export async function insertReservation(
  trx: Db,
  { intentId, walletId, ...reservation }: Reservation,
): Promise<void> {
  await runPrepared(trx, reserveStatement, [
    intentId,
    walletId,
    ...reservationColumns([reservation]),
  ])
}

/**
 * Releases the reservations of an ended intent that no step will spend: steps without an operation, and steps whose
 * operation was never signed.
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
