import { EFFECTS, toEffect, type EffectRow } from '../lanes/effects.js'
import { newId } from '../connection/ids.js'
import { selectScoped } from '../connection/scope.js'
import { sliced, type Slice } from '../connection/slice.js'
import type { Db } from '../connection/connect.js'
import { ServiceError } from '../../domain/errors.js'
import type {
  Action,
  Delay,
  Effect,
  ExecutionPlan,
  IntentError,
  IntentRequest,
  IntentStatus,
} from '../../domain/intent.js'
import type { Asked } from '../../domain/spending.js'

export type Intent = {
  id: string
  accountId: string
  walletId: string
  action: Action
  asset: string
  /** Base units asked for; of everything, what it was worth when it was planned. */
  units: string
  /** The chain named by the caller; of a bridge, where it leads to. */
  chain: string | null
  fromChain: string | null
  everything: boolean
  netOverDays: number | null
  metadata: Record<string, unknown> | null
  delay: Delay | null
  retryOf: string | null
  status: IntentStatus
  plan: ExecutionPlan | null
  error: IntentError | null
  requestId: string
  createdAt: Date
  completedAt: Date | null
}

export const intentColumns = [
  'id',
  'account_id as accountId',
  'wallet_id as walletId',
  'action',
  'asset',
  'units',
  'chain',
  'from_chain as fromChain',
  'everything',
  'net_over_days as netOverDays',
  'metadata',
  'delay',
  'retry_of as retryOf',
  'status',
  'plan',
  'error',
  'request_id as requestId',
  'created_at as createdAt',
  'completed_at as completedAt',
]

/** Whose an intent is, and what the caller said of it beside the request. */
export type Owner = {
  accountId: string
  walletId: string
  requestId: string
  metadata?: Record<string, unknown>
  /** The failed intent whose goal this one reaches. */
  retryOf?: string
}

/** What is asked for, and what is to be done about it. */
export type NewIntent = {
  request: IntentRequest
  /** Base units that the intent moves, as its plan says or as the caller asked. */
  units: bigint
  plan: ExecutionPlan | undefined
  /** Where money was seen that is not booked yet. */
  seen?: SeenBlock[]
}

/** The head of a chain at the time of a look. */
export type SeenBlock = { chainId: number; number: string }

/** Stores a new intent: `planning` when it has a plan, else `pending`. */
export async function insertIntent(
  trx: Db,
  owner: Owner,
  { request, units, plan, seen }: NewIntent,
): Promise<Intent> {
  const [intent] = await trx('intent')
    .insert({
      id: newId('intent_'),
      account_id: owner.accountId,
      wallet_id: owner.walletId,
      request_id: owner.requestId,
      action: request.action,
      asset: request.asset,
      units: units.toString(),
      ...requestColumns(request),
      metadata: owner.metadata ? JSON.stringify(owner.metadata) : null,
      retry_of: owner.retryOf ?? null,
      status: plan ? 'planning' : 'pending',
      plan: plan ? JSON.stringify(plan) : null,
      seen_blocks: seen ? JSON.stringify(seen) : null,
    })
    .returning<Intent[]>(intentColumns)
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
  { walletId, status, action, slice }: IntentFilter & { slice: Slice },
): Promise<(Intent & { effects: Effect[] })[]> {
  const query = sliced(withEffects(db, accountId), 'i.id', slice)
  if (walletId) void query.where('i.wallet_id', walletId)
  if (status) void query.where('i.status', status)
  if (action) void query.where('i.action', action)
  const rows = await selectScoped<IntentRow>(db, accountId, query)
  return rows.map(({ effects, ...row }) => ({ ...row, effects: (effects ?? []).map(toEffect) }))
}

/** The intent that retries another one, undefined when none does. */
export async function findRetry(
  db: Db,
  accountId: string,
  id: string,
): Promise<Intent | undefined> {
  const query = db('intent').where({ account_id: accountId, retry_of: id }).select(intentColumns)
  const [retry] = await selectScoped<Intent>(db, accountId, query)
  return retry
}

/** Keeps a failed intent from being reopened until the transaction ends. False when it has not failed any more. */
export async function holdFailed(trx: Db, accountId: string, id: string): Promise<boolean> {
  const failed = await trx('intent')
    .where({ account_id: accountId, id, status: 'failed' })
    .forShare()
    .first<{ id: string } | undefined>('id')
  return failed !== undefined
}

const withEffects = (db: Db, accountId: string) =>
  db('intent as i')
    .where('i.account_id', accountId)
    .select(intentColumns.map((column) => `i.${column}`))
    .select(db.raw(`(${EFFECTS}) as effects`))

const intentNotFound = () =>
  new ServiceError('INTENT_NOT_FOUND', 'There is no intent with this id.')

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
  const intent = await trx('intent')
    .where({ id })
    .forUpdate()
    .first<Intent | undefined>(intentColumns)
  if (!intent) throw new Error(`There is no intent ${id}.`)
  return intent
}

/** When an intent was created, undefined when there is none. */
export async function findIntentCreation(
  db: Db,
  id: string,
): Promise<{ createdAt: Date } | undefined> {
  return db('intent')
    .where({ id })
    .first<{ createdAt: Date } | undefined>('created_at as createdAt')
}

/** Where the money of an intent was seen when it was stored; none when that did not matter. */
export async function readSeenBlocks(db: Db, id: string): Promise<SeenBlock[]> {
  const row = await db('intent')
    .where({ id })
    .first<{ seen: SeenBlock[] | null }>('seen_blocks as seen')
  return row.seen ?? []
}

/**
 * The plan of a wallet's intent, and what was asked for. Undefined when the wallet has no such intent or it has no
 * plan yet.
 */
export async function findPlanned(
  db: Db,
  id: string,
  { walletId, accountId }: { walletId: string; accountId: string },
): Promise<{ plan: ExecutionPlan; asked: Asked } | undefined> {
  const row = await db('intent')
    .where({ id, wallet_id: walletId, account_id: accountId })
    .first<Pick<Intent, 'plan' | 'action' | 'units' | 'everything'> | undefined>(
      'plan',
      'action',
      'units',
      'everything',
    )
  if (!row?.plan) return undefined
  const { plan, action, units, everything } = row
  return { plan, asked: { action, units: BigInt(units), everything } }
}

function requestColumns(request: IntentRequest) {
  switch (request.action) {
    case 'lend':
      return { chain: request.chain ?? null, net_over_days: request.netOverDays ?? null }
    case 'withdraw':
      return { chain: request.chain, everything: request.amountUnits === 'max' }
    case 'bridge':
      return { chain: request.toChain, from_chain: request.fromChain }
  }
}

/** What a stored intent asks for. */
export function requestOf(intent: Intent): IntentRequest {
  const { action, asset, units, fromChain, everything, netOverDays } = intent
  const amountUnits = BigInt(units)
  const chain = intent.chain ?? undefined
  switch (action) {
    case 'lend': {
      const wishes = { ...(chain && { chain }), ...(netOverDays && { netOverDays }) }
      return { action, asset, amountUnits, ...wishes }
    }
    case 'withdraw':
      return { action, asset, amountUnits: everything ? 'max' : amountUnits, chain: chain ?? '' }
    case 'bridge':
      return { action, asset, amountUnits, fromChain: fromChain ?? '', toChain: chain ?? '' }
  }
}

type IntentRow = Intent & { effects: EffectRow[] | null }
