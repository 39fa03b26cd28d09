import type { Db } from '../connection/connect.js'

/** An operation that contends with others, in flight or turned away before. Base units. */
export type Contender = {
  id: string
  resource: string
  units: bigint
  /** Asked for by its id: what may be admitted now. */
  isOwn: boolean
  isInFlight: boolean
  /** A lower number is served first; among equals whoever came first. */
  priority: number
  createdAt: Date
}

/** Nobody waits for one that was not heard of for so long. */
const WAITER_MINUTES = 5

/**
 * Holds what operations of a chain contend for until the transaction ends, so that two signers decide one after
 * the other. Before any row is locked, and always in one order.
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
 * Who contends for these resources. In flight is what is signed, and what is mined in a block that a simulation at
 * `head` has not seen. A swap or a burn that nothing carries holds up nobody: each is bounded by itself. The
 * others are those that were turned away for want of room, and whose intents still ask.
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

/** `ids`: the operations about which is decided. */
type Contended = { chainId: number; resources: string[]; head: bigint; ids: string[] }

/** What is known of a contender `op`, whatever it is. */
const contender = (isOwn: boolean, isInFlight: boolean) => `
  select op.id, op.resource, op.input ->> 'units' as units, op.created_at as "createdAt", op.priority,
    ${isOwn} as "isOwn", ${isInFlight} as "isInFlight"
  from operation op`

/** Each part by an index of its own: of all that waits for the same nothing is read. */
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
