import type { Db } from '../../db/client/connect.js'

/** An operation that contends with others: in flight, or rejected earlier. Base units. */
export type Contender = {
  id: string
  resource: string
  units: bigint
  /** True for the operations to be decided now. */
  isOwn: boolean
  isInFlight: boolean
  /** Signing order: the lowest number is first, then the oldest. */
  priority: number
  createdAt: Date
}

/** A rejected operation without an attempt for this long is ignored. */
const WAITER_MINUTES = 5

/**
 * Locks contended resources of a chain until the transaction ends, so that signers decide one after the other. Taken
 * before row locks, and always in the same order.
 */
export async function lockContended(trx: Db, chainId: number, keys: string[]): Promise<void> {
  await trx.raw(
    `select pg_advisory_xact_lock(l.n) from (
       select distinct hashtextextended('contended/' || ? || '/' || k, 0) as n
       from unnest(?::text[]) k order by n) l`,
    [chainId, keys],
  )
}

/**
 * Operations that contend for these resources. In flight are signed operations, and mined ones in blocks above the
 * simulation's `head`. A swap or burn without a transaction delays no other, because each has its own limits. The
 * remaining ones were rejected for capacity, and their intents are still open.
 */
export async function readContenders(
  trx: Db,
  { chainId, resources, head, ids }: Contended,
): Promise<Contender[]> {
  const { rows } = await trx.raw<{ rows: (Omit<Contender, 'units'> & { units: string })[] }>(
    CONTENDERS,
    {
      head: head.toString(),
      chain: chainId,
      resources,
      ids,
    },
  )
  return rows.map(({ units, ...row }) => ({ ...row, units: BigInt(units) }))
}

/** `ids`: the operations to be decided. */
type Contended = { chainId: number; resources: string[]; head: bigint; ids: string[] }

/** The columns of a contender `op`. */
const contender = (isOwn: boolean, isInFlight: boolean) => `
  select op.id, op.resource, coalesce(op.input_units, 0)::text as units, op.created_at as "createdAt", op.priority,
    ${isOwn} as "isOwn", ${isInFlight} as "isInFlight"
  from operation op`

/** Each part uses its own index, so that waiting operations are not scanned. */
const CONTENDERS = `
${contender(true, false)} where op.id = any(:ids)
union all
${contender(false, true)}
  where op.chain_id = :chain and op.resource = any(:resources) and not op.id = any(:ids)
    and op.state = 'signed' and (op.tx_id is not null or op.kind not in ('swap', 'bridge'))
union all
${contender(false, true)}
  where op.chain_id = :chain and op.resource = any(:resources)
    and op.state in ('mined', 'confirmed') and op.block_number > :head
union all
${contender(false, false)}
  where op.chain_id = :chain and op.resource = any(:resources) and not op.id = any(:ids)
    and op.state in ('queued', 'deferred') and op.code in ('DEPOSIT_FAILED', 'WITHDRAW_FAILED')
    and op.refused_block is null
    and op.retry_after > clock_timestamp() - interval '${WAITER_MINUTES} minutes'
order by "createdAt"`
