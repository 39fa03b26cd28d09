import { namedColumns } from '../db/client/columns.js'
import { runPrepared, type Statement } from '../db/client/prepared.js'
import { failureCodes } from '../domain/intent/operation.js'
import type { Db } from '../db/client/connect.js'

/** A burn and its message, as far as known. All bytes are hex text. */
export type Burn = {
  operationId: string
  sourceDomain: number
  /** The lowest destination block that a reorg could have replaced at the time of the burn. The mint is not below it. */
  destinationBlock: bigint
  sent: string | null
  burnedAt: Date | null
  eventNonce: string | null
  message: string | null
  attestation: string | null
  /** Why a fast transfer is attested as a standard one, in the service's own words. */
  delayReason: string | null
}

const columns = [
  'operation_id as operationId',
  'source_domain as sourceDomain',
  'destination_block as destinationBlock',
  'sent',
  'burned_at as burnedAt',
  'event_nonce as eventNonce',
  'message',
  'attestation',
  'delay_reason as delayReason',
]

/** Stores a burn together with its operation. Idempotent. */
export async function insertBurn(
  trx: Db,
  burn: { operationId: string; sourceDomain: number; destinationChainId: number },
): Promise<void> {
  await trx('burn')
    .insert({
      operation_id: burn.operationId,
      source_domain: burn.sourceDomain,
      destination_block: trx.raw(
        'coalesce((select min(number) from block_header where chain_id = ?), 0)',
        [burn.destinationChainId],
      ),
    })
    .onConflict('operation_id')
    .ignore()
}

export async function findBurn(db: Db, operationId: string): Promise<Burn | undefined> {
  return db('burn').where({ operation_id: operationId }).first<Burn | undefined>(columns)
}

/** The nonces among the given ones that belong to other burns. */
export async function findClaimedNonces(
  db: Db,
  { operationId, sourceDomain }: Burn,
  nonces: string[],
): Promise<string[]> {
  return db('burn')
    .where({ source_domain: sourceDomain })
    .whereNot({ operation_id: operationId })
    .whereIn('event_nonce', nonces)
    .pluck<string[]>('event_nonce')
}

/** Stores the attested message of a burn and announces it. A later attestation replaces it. */
export async function setAttested(
  db: Db,
  operationId: string,
  attested: { eventNonce: string; message: string; attestation: string },
): Promise<void> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `with stored as (
       update burn set event_nonce = :eventNonce, message = :message, attestation = :attestation,
         attested_at = coalesce(attested_at, clock_timestamp())
       where operation_id = :operationId returning operation_id)
     select pg_notify('operation', json_build_object('id', operation_id, 'state', 'attested')::text) from stored`,
    { operationId, ...attested },
  )
  if (rowCount !== 1) throw new Error(`There is no burn ${operationId}.`)
}

/** Stores why a fast transfer is attested as a standard one. Null: it no longer is. */
export async function setDelayReason(
  db: Db,
  operationId: string,
  reason: string | null,
): Promise<void> {
  await db('burn').where({ operation_id: operationId }).update({ delay_reason: reason })
}

/** A burn in a block, with its chain and transaction. `isRefused`: the destination refuses or reverted its mint. */
export type OpenBurn = Burn & { sent: string; chainId: bigint; txHash: string; isRefused: boolean }

/**
 * Confirmed burns whose mint is not signed: without a message, or with an unused one. The query starts from the burns:
 * the planner has no statistics of this mostly empty table, and would otherwise compare all operations with each other.
 */
export async function findOpenBurns(db: Db): Promise<OpenBurn[]> {
  return runPrepared<OpenBurn>(db, openStatement, [])
}

const openStatement: Statement = {
  name: 'open burns',
  text: `select ${namedColumns('burn', columns)}, b.chain_id as "chainId", b.tx_hash as "txHash",
       coalesce(m.code = '${failureCodes.mint}', false) as "isRefused"
     from (select * from burn where not minted and sent is not null offset 0) as burn
     cross join lateral (
       select * from operation o
       where o.id = burn.operation_id and o.success and o.state in ('confirmed', 'final') offset 0) as b
     left join lateral (
       select o.state, o.code from operation o
       where o.intent_id = b.intent_id and o.sequence = b.sequence and o.kind = 'mint' offset 0) as m on true
     where burn.message is null or coalesce(m.state, 'queued') in ('queued', 'deferred')
     order by burn.burned_at, b.created_at`,
}

/** Marks the burn of a step as minted for good. */
export async function closeBurn(trx: Db, step: { intent_id: string; sequence: number }) {
  const burn = trx('operation')
    .where({ ...step, kind: 'bridge' })
    .select('id')
  await trx('burn').whereIn('operation_id', burn).update({ minted: true })
}
