import type { Db } from '../client/connect.js'
import type { Effect } from '../../domain/intent/results.js'

/** The mined effects of an intent, in the order of its steps. */
export async function readEffects(db: Db, intentId: string): Promise<Effect[]> {
  const rows = await db('operation as o')
    .join('chain as c', 'c.id', 'o.chain_id')
    .where('o.intent_id', intentId)
    .whereIn('o.state', ['mined', 'confirmed', 'final'])
    .orderBy('o.sequence')
    .orderBy('o.created_at')
    .select<EffectRow[]>(
      'o.sequence',
      'o.kind',
      'c.name as chain',
      'o.state',
      'o.success',
      'o.tx_hash as txHash',
      'o.gas_used as gasUsed',
      'o.gas_cost_usd as gasCostUsd',
      'o.units',
      'o.block_number as blockNumber',
      'o.block_time as blockTime',
    )
  return rows.map(toEffect)
}

/** The same rows as JSON, for a statement that reads them with their intent. */
export const EFFECTS = `select json_agg(json_build_object(
    'sequence', o.sequence, 'kind', o.kind, 'chain', c.name, 'state', o.state, 'success', o.success,
    'txHash', o.tx_hash, 'gasUsed', o.gas_used::text, 'gasCostUsd', o.gas_cost_usd::text,
    'units', o.units::text, 'blockNumber', o.block_number, 'blockTime', o.block_time)
    order by o.sequence, o.created_at)
  from operation o join chain c on c.id = o.chain_id
  where o.intent_id = i.id and o.state in ('mined', 'confirmed', 'final')`

export const toEffect = ({ sequence, kind, chain, ...row }: EffectRow): Effect => ({
  ...{ sequence, kind, chain },
  confirmed: row.state !== 'mined',
  success: row.success,
  txHash: row.txHash,
  gasUsed: BigInt(row.gasUsed),
  gasCostUsd: row.gasCostUsd === null ? null : Number(row.gasCostUsd),
  ...(row.units === null ? {} : { units: BigInt(row.units) }),
  blockNumber: Number(row.blockNumber),
  ...(row.blockTime === null ? {} : { minedAt: new Date(row.blockTime).toISOString() }),
})

export type EffectRow = Pick<Effect, 'sequence' | 'kind' | 'chain' | 'success' | 'txHash'> & {
  state: string
  gasUsed: string
  gasCostUsd: string | null
  units: string | null
  blockNumber: number | bigint
  blockTime: string | Date | null
}
