import type { Db } from '../connection/connect.js'

/** A burn's message, as far as it is known. All bytes are hex text. */
export type Burn = {
  operationId: string
  sourceDomain: number
  /** Block of the destination that no reorg reached when the money was burned: no mint is before. */
  destinationBlock: bigint
  sent: string | null
  burnedAt: Date | null
  eventNonce: string | null
  message: string | null
  attestation: string | null
}

const columns = {
  operationId: 'operation_id',
  sourceDomain: 'source_domain',
  destinationBlock: 'destination_block',
  sent: 'sent',
  burnedAt: 'burned_at',
  eventNonce: 'event_nonce',
  message: 'message',
  attestation: 'attestation',
}
const returning = Object.entries(columns).map(([name, column]) => `${column} as ${name}`)

/** Opens the account of a burn, together with its operation. A second call changes nothing. */
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
  return db('burn').where({ operation_id: operationId }).first<Burn | undefined>(returning)
}

/** Of some messages, those that other burns have claimed: their nonces. */
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

/** Stores the attested message of a burn; one that was attested anew replaces it. */
export async function setAttested(
  db: Db,
  operationId: string,
  attested: { eventNonce: string; message: string; attestation: string },
): Promise<void> {
  const changed = await db('burn').where({ operation_id: operationId }).update({
    event_nonce: attested.eventNonce,
    message: attested.message,
    attestation: attested.attestation,
  })
  if (changed !== 1) throw new Error(`There is no burn ${operationId}.`)
}

/** A burn that is in a block, and that of its operation. */
export type OpenBurn = Burn & { sent: string; chainId: bigint; txHash: string }

/**
 * Confirmed burns whose money is not on its way out yet: without a message, or with one that nobody has signed a
 * mint of. Of the latter few need anything.
 */
export async function findOpenBurns(db: Db): Promise<OpenBurn[]> {
  return db('burn')
    .join('operation as b', 'b.id', 'burn.operation_id')
    .leftJoin('operation as m', (on) => {
      on.on('m.intent_id', 'b.intent_id')
        .andOn('m.sequence', 'b.sequence')
        .andOnVal('m.kind', 'mint')
    })
    .whereNotNull('burn.sent')
    .where({ 'burn.minted': false, 'b.success': true })
    .whereIn('b.state', ['confirmed', 'final'])
    .whereRaw(`(burn.message is null or m.id is null or m.state in ('queued', 'deferred'))`)
    .orderBy(['burn.burned_at', 'b.created_at'])
    .select<OpenBurn[]>([
      ...returning.map((column) => `burn.${column}`),
      ...['b.chain_id as chainId', 'b.tx_hash as txHash'],
    ])
}

/** What was burned in a step has come out for good. */
export async function closeBurn(trx: Db, step: { intent_id: string; sequence: number }) {
  const burn = trx('operation')
    .where({ ...step, kind: 'bridge' })
    .select('id')
  await trx('burn').whereIn('operation_id', burn).update({ minted: true })
}
