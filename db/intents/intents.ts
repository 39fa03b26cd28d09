import { namedColumns } from '../client/columns.js'
import { newId } from '../client/ids.js'
import { reservationColumns, INSERT_RESERVATIONS, type PlannedReservation } from './reservations.js'
import { TIMELINE, toTimeline, type IntentTimeline, type IntentTimelineRow } from './timeline.js'
import { runPrepared, type Statement } from '../client/prepared.js'
import { selectScoped } from '../client/scope.js'
import { toRequestColumns, type StoredRequest } from './storedRequest.js'
import type { Db } from '../client/connect.js'
import { ServiceError } from '../../domain/errors.js'
import { currentFunds } from '../../domain/intent/funds.js'
import type {
  IntentDelay,
  StepPlan,
  IntentFailure,
  IntentRequest,
  LifecycleStatus,
} from '../../domain/intent/intent.js'

export type StoredIntent = StoredRequest & {
  id: string
  accountId: string
  walletId: string
  metadata: Record<string, unknown> | null
  delay: IntentDelay | null
  retryOf: string | null
  status: LifecycleStatus
  plan: StepPlan | null
  error: IntentFailure | null
  requestId: string
  /** Chain heads with the money, which were not indexed when the intent was stored. Its plan waits for them. */
  seenBlocks: SeenBlock[] | null
  createdAt: Date
  /** When status, plan, error or delay last changed. Null: never. Steps have their own times. */
  updatedAt: Date | null
  completedAt: Date | null
  cancelledAt: Date | null
  /** When it was completed, failed or cancelled. */
  endedAt: Date | null
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
  'seen_blocks as seenBlocks',
  'created_at as createdAt',
  'updated_at as updatedAt',
  'completed_at as completedAt',
  'cancelled_at as cancelledAt',
  'ended_at as endedAt',
]

/** The owner of an intent, and the caller's data next to the request. */
export type Owner = {
  accountId: string
  walletId: string
  requestId: string
  metadata?: Record<string, unknown>
  /** The failed intent that this intent retries. */
  retryOf?: string
}

/** A request and its plan. */
export type NewIntent = {
  request: IntentRequest
  /** Base units that the intent moves, from its plan or its request. */
  units: bigint
  plan: StepPlan | undefined
  /** Chain heads with the money that are not indexed yet. */
  seen?: SeenBlock[]
  /** Reservations of its steps. */
  reserved?: PlannedReservation[]
}

/** The head of a chain when it was read. */
export type SeenBlock = { chainId: number; number: string }

/** Stores a new intent with its reservations: `planning` when it has a plan, else `pending`. */
export async function insertIntent(
  trx: Db,
  owner: Owner,
  { request, units, plan, seen, reserved = [] }: NewIntent,
): Promise<StoredIntent> {
  const { chain, fromChain, everything, days } = toRequestColumns(request)
  const [intent] = await runPrepared<StoredIntent>(trx, insertStatement, [
    ...[newId('intent_'), owner.accountId, owner.walletId, owner.requestId],
    ...[request.action, request.asset, units.toString(), chain, fromChain, everything, days],
    ...[owner.metadata ?? null, plan ?? null, seen ?? null].map(
      (value) => value && JSON.stringify(value),
    ),
    ...[owner.retryOf ?? null, plan ? 'planning' : 'pending'],
    ...reservationColumns(reserved),
  ])
  if (!intent) throw new Error('The intent was not stored.')
  return intent
}

const insertStatement: Statement = {
  name: 'insert intent',
  text: `with made as (
      insert into intent (id, account_id, wallet_id, request_id, action, asset, units, chain, from_chain,
        everything, net_over_days, metadata, plan, seen_blocks, retry_of, status, gas_usd)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
        coalesce(($13::json ->> 'estimatedGasUsd')::numeric, 0))
      returning ${namedColumns('intent', intentColumns)}
    ), held as (${INSERT_RESERVATIONS('$1', '$3', 17)})
    select * from made`,
}

/**
 * The intent of the account with its timeline. Throws INTENT_NOT_FOUND, the same for unknown and foreign intents.
 */
export async function getIntent(
  db: Db,
  accountId: string,
  id: string,
): Promise<{ intent: StoredIntent; timeline: IntentTimeline }> {
  const query = withTimeline(db, accountId).where('i.id', id)
  const [row] = await selectScoped<IntentRow>(db, accountId, query)
  if (!row) throw intentNotFound()
  const { timeline, ...intent } = row
  return { intent, timeline: toTimeline(timeline) }
}

/** The number of open intents of the account, at most `most`. */
export async function countOpenIntents(db: Db, accountId: string, most: number): Promise<number> {
  const open = db('intent')
    .where({ account_id: accountId })
    .whereIn('status', openStatuses)
    .limit(most)
    .select('id')
  const rows = await selectScoped<{ open: bigint }>(
    db,
    accountId,
    db(open.as('i')).count('id as open'),
  )
  return Number(rows[0]?.open ?? 0)
}

const openStatuses: LifecycleStatus[] = ['pending', 'planning', 'executing']

/** The retry of an intent, or undefined. */
export async function findRetry(
  db: Db,
  accountId: string,
  id: string,
): Promise<StoredIntent | undefined> {
  const query = db('intent').where({ account_id: accountId, retry_of: id }).select(intentColumns)
  const [retry] = await selectScoped<StoredIntent>(db, accountId, query)
  return retry
}

/** Prevents a failed intent from being reopened until the transaction ends. False when it is no longer failed. */
export async function lockFailed(trx: Db, accountId: string, id: string): Promise<boolean> {
  const failed = await trx('intent')
    .where({ account_id: accountId, id, status: 'failed' })
    .forShare()
    .first<{ id: string } | undefined>('id')
  return failed !== undefined
}

/** Intents of the account with their timelines: a query of the table as `i`. */
export const withTimeline = (db: Db, accountId: string) =>
  db('intent as i')
    .where('i.account_id', accountId)
    .select(intentColumns.map((column) => `i.${column}`))
    .select(db.raw(`(${TIMELINE}) as timeline`))

const intentNotFound = () =>
  new ServiceError('INTENT_NOT_FOUND', 'There is no intent with this id.')

export type CancelVerdict = 'cancelled' | 'already_signed' | 'already_over'

/**
 * Cancels an intent of which no step is signed and unfinished, with its unsigned operations and their reservations, in
 * the caller's transaction. Refunds its charge when it has moved nothing. Idempotent.
 *
 * @throws {ServiceError} INTENT_NOT_FOUND, the same for unknown and foreign intents.
 */
export async function cancelIntent(trx: Db, accountId: string, id: string): Promise<CancelVerdict> {
  const ask = async (call: string, values: (string | null)[]) => {
    const sql = `select ${call} as verdict`
    const { rows } = await trx.raw<{ rows: { verdict: CancelCheck }[] }>(sql, values)
    return rows[0]?.verdict ?? 'unknown'
  }
  const known = await ask('cancel_verdict(?, ?)', [accountId, id])
  if (known === 'unknown') throw intentNotFound()
  if (known !== 'cancellable') return known
  // The rows are locked now, so the money stays where it is.
  const { intent, timeline } = await getIntent(trx, accountId, id)
  const { effects } = timeline
  const funds = intent.plan && effects.length > 0 ? currentFunds(intent.plan, effects) : null
  await ask('cancel_intent(?, ?, ?)', [accountId, id, funds && JSON.stringify(funds)])
  return 'cancelled'
}

type CancelCheck = CancelVerdict | 'cancellable' | 'unknown'

/** The intent, locked until the transaction ends. */
export async function lockIntent(trx: Db, id: string): Promise<StoredIntent> {
  const intent = await trx('intent')
    .where({ id })
    .forUpdate()
    .first<StoredIntent | undefined>(intentColumns)
  if (!intent) throw new Error(`There is no intent ${id}.`)
  return intent
}

/** When an intent was created, or undefined. */
export async function findIntentCreation(
  db: Db,
  id: string,
): Promise<{ createdAt: Date } | undefined> {
  return db('intent')
    .where({ id })
    .first<{ createdAt: Date } | undefined>('created_at as createdAt')
}

/** Chain heads with the money when the intent was stored. Empty when the indexed blocks sufficed. */
export async function readSeenBlocks(db: Db, id: string): Promise<SeenBlock[]> {
  const row = await db('intent')
    .where({ id })
    .first<{ seen: SeenBlock[] | null }>('seen_blocks as seen')
  return row.seen ?? []
}

export type IntentRow = StoredIntent & { timeline: IntentTimelineRow }
