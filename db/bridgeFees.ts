import { HOUR_MS } from '../runtime/durations.js'
import type { Db } from './client/connect.js'

/** A bridge route. Chains by their canonical names. */
export type BridgePair = { protocol: string; from: string; to: string }

/** Fees in millionths of the amount. Null: not offered. */
export type PairFees = BridgePair & {
  fastMillionths: bigint | null
  standardMillionths: bigint | null
}

/**
 * Fees are read once a minute. An hour bridges a short outage of the service. A burn with an older fee may offer too
 * little, and its fast transfer would become a standard one.
 */
const OLDEST_FEES_MS = HOUR_MS

/** The latest fees that bridge services reported, without those older than an hour. No account owns them. */
export async function readPairFees(db: Db): Promise<PairFees[]> {
  return db('bridge_fee')
    .whereRaw(`read_at > clock_timestamp() - ? * interval '1 millisecond'`, [OLDEST_FEES_MS])
    .select<PairFees[]>(
      'protocol',
      'from_chain as from',
      'to_chain as to',
      'fast_millionths as fastMillionths',
      'standard_millionths as standardMillionths',
    )
}

/** Stores the reported fees of a pair of chains. */
export async function setPairFees(db: Db, fees: PairFees): Promise<void> {
  await db('bridge_fee')
    .insert({
      protocol: fees.protocol,
      from_chain: fees.from,
      to_chain: fees.to,
      fast_millionths: fees.fastMillionths?.toString() ?? null,
      standard_millionths: fees.standardMillionths?.toString() ?? null,
      read_at: db.raw('clock_timestamp()'),
    })
    .onConflict(['protocol', 'from_chain', 'to_chain'])
    .merge()
}
