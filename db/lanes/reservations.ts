import type { Db } from '../connection/connect.js'

/** The last block of a chain whose outcomes are in the database. */
export type BookedBlock = { chainId: bigint; number: bigint; hash: string }

export async function readBookedBlocks(db: Db): Promise<BookedBlock[]> {
  return db('chain').select<BookedBlock[]>(
    'id as chainId',
    'booked_block as number',
    'booked_hash as hash',
  )
}

/**
 * True when a block that was booked is still canonical as far as this database knows. Balances that were
 * read at a block which has gone since say nothing.
 */
export async function isStillBooked(trx: Db, at: BookedBlock): Promise<boolean> {
  const headers = await trx('block_header')
    .where({ chain_id: at.chainId.toString(), number: at.number.toString(), hash: at.hash })
    .select<{ hash: string }[]>('hash')
  return headers.length > 0
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

/**
 * Base units of a token that are spoken for when balances are read at block `at`: what is reserved and
 * not visible as spent in a balance of that block.
 */
export async function readReserved(
  trx: Db,
  { walletId, token }: { walletId: string; token: string },
  at: BookedBlock,
): Promise<bigint> {
  const number = at.number.toString()
  const row = await trx('reservation')
    .where({ wallet_id: walletId, chain_id: at.chainId.toString(), token: normal(token) })
    .where('from_block', '<=', number)
    .whereRaw(
      'case when spent_block is null then released_at is null else spent_block > ?::bigint end',
      [number],
    )
    .sum<{ units: string | null }[]>('units as units')
    .first()
  return BigInt(row?.units ?? 0)
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
