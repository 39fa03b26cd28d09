import { insertBurn } from '../../../operations/burns.js'
import { insertOperation } from '../../../operations/operations.js'
import { lockIntent } from '../../../db/intents/intents.js'
import { setExecuting } from '../../../db/intents/status.js'
import type { Db } from '../../../db/client/connect.js'
import type { StepPlan } from '../../../domain/intent/intent.js'
import type { OperationKind, OperationState } from '../../../domain/intent/operation.js'

/** The columns of an operation that chains can confirm. */
export type AuditedOperation = {
  id: string
  intentId: string
  sequence: number
  kind: OperationKind
  chainId: bigint
  chainKey: string
  state: OperationState
  success: boolean | null
  txHash: string | null
  blockNumber: bigint | null
  blockHash: string | null
  logIndex: number | null
  wallet: string
  treasury: string | null
}

const columns = {
  id: 'o.id',
  intentId: 'o.intent_id',
  sequence: 'o.sequence',
  kind: 'o.kind',
  chainId: 'o.chain_id',
  chainKey: 'o.chain_key',
  state: 'o.state',
  success: 'o.success',
  txHash: 'o.tx_hash',
  blockNumber: 'o.block_number',
  blockHash: 'o.block_hash',
  logIndex: 'o.log_index',
  wallet: 'w.address',
  treasury: 't.address',
}

const audited = (db: Db) =>
  db('operation as o')
    .join('wallet as w', 'w.id', 'o.wallet_id')
    .leftJoin('treasury as t', db.raw('true'))
    .select<AuditedOperation[]>(columns)

/** A page of a chain's operations, by id. */
export async function pageOperations(
  db: Db,
  chainId: number,
  { after, limit }: { after: string; limit: number },
): Promise<AuditedOperation[]> {
  return audited(db)
    .where('o.chain_id', chainId)
    .where('o.id', '>', after)
    .orderBy('o.id')
    .limit(limit)
}

export async function readAudited(db: Db, ids: string[]): Promise<AuditedOperation[]> {
  return audited(db).whereIn('o.id', ids)
}

/** A plan or funding whose effects may be missing as operations. `nonce` is that of a mint's message. */
export type Orderer = {
  id: string
  accountId: string
  walletId: string
  wallet: string
  treasury: string | null
  status: string
  plan: StepPlan | null
  /** Set for a funding. */
  funding: { chainId: string } | null
  /** Kind and sequence of its operations. */
  ordered: { sequence: number; kind: OperationKind }[]
  /** Attested messages of its burns. */
  nonces: { sequence: number; nonce: string }[]
}

/** A page of intents with a plan and of fundings, by id, that have an uncompleted step. */
export async function pageOrderers(
  db: Db,
  { after, limit }: { after: string; limit: number },
): Promise<Orderer[]> {
  const { rows } = await db.raw<{ rows: Orderer[] }>(ORDERERS, { after, limit })
  return rows
}

const OF_ORDERER = `
  coalesce((select json_agg(json_build_object('sequence', o.sequence, 'kind', o.kind))
    from operation o where o.intent_id = x.id), '[]') as ordered,
  coalesce((select json_agg(json_build_object('sequence', o.sequence, 'nonce', b.event_nonce))
    from operation o join burn b on b.operation_id = o.id
    where o.intent_id = x.id and b.event_nonce is not null), '[]') as nonces`

const ORDERERS = `
select y.*, w.address as wallet, (select t.address from treasury t) as treasury
from (
  select x.id, x.account_id as "accountId", x.wallet_id as "walletId", x.status, x.plan,
    null::json as funding, ${OF_ORDERER}
  from intent x where x.plan is not null and x.id > :after and not is_done(x)
  union all
  select x.id, x.account_id, x.wallet_id, 'funding', null::json,
    json_build_object('chainId', x.chain_id::text), ${OF_ORDERER}
  from funding x where x.id > :after and x.completed_at is null
) y join wallet w on w.id = y."walletId"
order by y.id limit :limit`

/** The row of an operation that was executed but is missing. */
export type MissingOperation = {
  id: string
  intentId: string
  sequence: number
  kind: OperationKind
  accountId: string
  walletId: string
  chainId: number
  chainKey: string
  /** Set for a burn: the bridge's id of the source domain, and the destination. */
  burn?: { sourceDomain: number; destinationChainId: number }
}

/** Inserts the operation of an executed effect, so that the relayer finds it by its log. False when it exists. */
export async function insertExecuted(db: Db, missing: MissingOperation): Promise<boolean> {
  return db.transaction(async (trx) => {
    const { id, intentId, kind, burn } = missing
    const intent = kind === 'fund' ? undefined : await lockIntent(trx, intentId)
    if (await trx('operation').where({ id }).first('id')) return false
    if (intent?.status === 'planning') await setExecuting(trx, intentId)
    await insertOperation(trx, missing)
    // The log may be below the indexed block, because it was executed while this row was missing.
    await trx('operation').where({ id }).update({ min_block: 0 })
    if (burn) await insertBurn(trx, { operationId: id, ...burn })
    return true
  })
}
