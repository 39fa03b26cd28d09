import type { Knex } from 'knex'
import { newId } from './ids.js'
import { selectScoped } from './scope.js'
import { sliced, type Slice } from './slice.js'
import type { PlanName } from '../domain/tiers.js'
import type { Db } from './connect.js'
import { ServiceError } from '../domain/errors.js'
import type {
  Action,
  Effect,
  ExecutionPlan,
  IntentError,
  IntentRequest,
  IntentStatus,
} from '../domain/intent.js'

export type Intent = {
  id: string
  accountId: string
  walletId: string
  action: 'lend'
  asset: string
  units: string
  chain: string | null
  status: IntentStatus
  plan: ExecutionPlan | null
  error: IntentError | null
  requestId: string
  createdAt: Date
  completedAt: Date | null
}

const returning = [
  'id',
  'account_id as accountId',
  'wallet_id as walletId',
  'action',
  'asset',
  'units',
  'chain',
  'status',
  'plan',
  'error',
  'request_id as requestId',
  'created_at as createdAt',
  'completed_at as completedAt',
]

/** Stores a new intent: `planning` when it has a plan, else `pending`. */
export async function insertIntent(
  trx: Db,
  owner: { accountId: string; walletId: string; requestId: string },
  request: IntentRequest,
  plan: ExecutionPlan | undefined,
): Promise<Intent> {
  const [intent] = await trx('intent')
    .insert({
      id: newId('intent_'),
      account_id: owner.accountId,
      wallet_id: owner.walletId,
      request_id: owner.requestId,
      action: request.action,
      asset: request.asset,
      units: request.amountUnits.toString(),
      chain: request.chain ?? null,
      status: plan ? 'planning' : 'pending',
      plan: plan ? JSON.stringify(plan) : null,
    })
    .returning<Intent[]>(returning)
  if (!intent) throw new Error('The intent was not stored.')
  return intent
}

/**
 * The intent of the account with its mined effects, in one statement. INTENT_NOT_FOUND, the same for
 * unknown and foreign ones.
 */
export async function getIntent(
  db: Db,
  accountId: string,
  id: string,
): Promise<{ intent: Intent; effects: Effect[] }> {
  const query = withEffects(db, accountId).where('i.id', id)
  const [row] = await selectScoped<IntentRow>(db, accountId, query)
  if (!row) throw intentNotFound()
  const { effects, ...intent } = row
  return { intent, effects: (effects ?? []).map(toEffect) }
}

export type IntentFilter = {
  walletId: string | undefined
  status: IntentStatus | undefined
  action: Action | undefined
}

/** Intents of the account with their mined effects, newest first: those of the slice and one more. */
export async function listIntents(
  db: Db,
  accountId: string,
  { walletId, status, action }: IntentFilter,
  slice: Slice,
): Promise<(Intent & { effects: Effect[] })[]> {
  const query = sliced(withEffects(db, accountId), 'i.id', slice)
  if (walletId) void query.where('i.wallet_id', walletId)
  if (status) void query.where('i.status', status)
  if (action) void query.where('i.action', action)
  const rows = await selectScoped<IntentRow>(db, accountId, query)
  return rows.map(({ effects, ...row }) => ({ ...row, effects: (effects ?? []).map(toEffect) }))
}

const withEffects = (db: Db, accountId: string) =>
  db('intent as i')
    .where('i.account_id', accountId)
    .select(returning.map((column) => `i.${column}`))
    .select(db.raw(`(${EFFECTS}) as effects`))

const intentNotFound = () => new ServiceError('INTENT_NOT_FOUND', 'There is no such intent.')

export type CancelVerdict = 'cancelled' | 'already_signed' | 'already_over'

/**
 * Cancels an intent in the caller's transaction, if nothing of it was ever signed: with its operations, its
 * reservations and its charge. An intent that is cancelled stays as it is.
 *
 * @throws {ServiceError} INTENT_NOT_FOUND, the same for unknown and foreign ones.
 */
export async function cancelIntent(trx: Db, accountId: string, id: string): Promise<CancelVerdict> {
  const { rows } = await trx.raw<{ rows: { verdict: CancelVerdict | 'unknown' }[] }>(
    'select cancel_intent(?, ?) as verdict',
    [accountId, id],
  )
  const verdict = rows[0]?.verdict ?? 'unknown'
  if (verdict === 'unknown') throw intentNotFound()
  return verdict
}

/** The intent, locked until the transaction ends: one writer decides about it at a time. */
export async function lockIntent(trx: Db, id: string): Promise<Intent> {
  const intent = await trx('intent').where({ id }).forUpdate().first<Intent | undefined>(returning)
  if (!intent) throw new Error(`There is no intent ${id}.`)
  return intent
}

/** The plan of a wallet's intent, undefined when the wallet has no such intent or it has no plan yet. */
export async function findPlan(
  db: Db,
  id: string,
  walletId: string,
): Promise<ExecutionPlan | undefined> {
  const row = await db('intent')
    .where({ id, wallet_id: walletId })
    .first<{ plan: ExecutionPlan | null } | undefined>('plan')
  return row?.plan ?? undefined
}

/** What a stored intent asks for. */
export function requestOf(intent: Intent): IntentRequest {
  const { action, asset, units, chain } = intent
  return { action, asset, amountUnits: BigInt(units), ...(chain ? { chain } : {}) }
}

export async function setPlan(trx: Db, id: string, plan: ExecutionPlan): Promise<void> {
  await updateOne(trx, id, ['pending'], { status: 'planning', plan: JSON.stringify(plan) })
}

/** From the first operation on the intent reads `executing`. A later call changes nothing. */
export async function setExecuting(trx: Db, id: string): Promise<void> {
  await trx('intent').where({ id, status: 'planning' }).update({ status: 'executing' })
}

export async function setCompleted(trx: Db, id: string): Promise<void> {
  await updateOne(trx, id, ['planning', 'executing'], {
    status: 'completed',
    completed_at: trx.raw('clock_timestamp()'),
  })
}

export async function setFailed(trx: Db, id: string, error: IntentError): Promise<void> {
  await updateOne(trx, id, ['pending', 'planning', 'executing'], {
    status: 'failed',
    error: JSON.stringify(error),
  })
}

async function updateOne(
  trx: Db,
  id: string,
  from: IntentStatus[],
  values: Record<string, unknown>,
): Promise<void> {
  const changed = await trx('intent').where({ id }).whereIn('status', from).update(values)
  if (changed !== 1) throw new Error(`Intent ${id} is none of ${from.join(', ')}.`)
}

/** Says that the workflow of an intent or a funding was started. */
export async function setDispatched(db: Db, id: string): Promise<void> {
  await db.raw('select mark_dispatched(?)', [id])
}

/**
 * Intents whose workflow should have been started a while ago, oldest first, with their plan's name. One that
 * was cancelled before is over without a workflow.
 */
export async function findUndispatchedIntents(
  db: Db,
  olderThanMs: number,
): Promise<{ intent: Intent; plan: PlanName }[]> {
  return findStartable(db, olderThanMs, (rows) => rows.whereNull('i.dispatched_at'))
}

/** Intents that are not over though their workflow was started a while ago. */
export async function findLingeringIntents(
  db: Db,
  olderThanMs: number,
): Promise<{ intent: Intent; plan: PlanName }[]> {
  return findStartable(db, olderThanMs, (rows) => rows.whereNotNull('i.dispatched_at'))
}

async function findStartable(
  db: Db,
  olderThanMs: number,
  where: (rows: Knex.QueryBuilder) => Knex.QueryBuilder,
): Promise<{ intent: Intent; plan: PlanName }[]> {
  const rows = (await where(
    db('intent as i')
      .join('account as a', 'a.id', 'i.account_id')
      .whereNotIn('i.status', ['completed', 'failed'])
      .whereRaw(`i.created_at < clock_timestamp() - ? * interval '1 millisecond'`, [olderThanMs])
      .orderBy('i.created_at')
      .limit(50)
      .select(returning.map((column) => `i.${column}`))
      .select('a.plan as accountPlan'),
  )) as (Intent & { accountPlan: PlanName })[]
  return rows.map(({ accountPlan, ...intent }) => ({ intent, plan: accountPlan }))
}

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
    )
  return rows.map(toEffect)
}

/** The same rows as JSON, for a statement that reads them together with their intent. */
const EFFECTS = `select json_agg(json_build_object(
    'sequence', o.sequence, 'kind', o.kind, 'chain', c.name, 'state', o.state, 'success', o.success,
    'txHash', o.tx_hash, 'gasUsed', o.gas_used::text, 'gasCostUsd', o.gas_cost_usd::text,
    'units', o.units::text) order by o.sequence, o.created_at)
  from operation o join chain c on c.id = o.chain_id
  where o.intent_id = i.id and o.state in ('mined', 'confirmed', 'final')`

const toEffect = ({ state, units, ...row }: EffectRow): Effect => ({
  ...row,
  confirmed: state !== 'mined',
  gasUsed: BigInt(row.gasUsed),
  gasCostUsd: Number(row.gasCostUsd),
  ...(units === null ? {} : { units: BigInt(units) }),
})

type IntentRow = Intent & { effects: EffectRow[] | null }

type EffectRow = Omit<Effect, 'confirmed' | 'gasUsed' | 'gasCostUsd' | 'units'> & {
  state: string
  gasUsed: string
  gasCostUsd: string
  units: string | null
}
