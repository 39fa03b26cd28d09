import { arrayText } from '../connection/arrays.js'
import { gatherByName, perPool } from '../connection/gather.js'
import { newId } from '../connection/ids.js'
import { runPrepared, type Statement } from '../connection/prepared.js'
import { columnsOfClaims } from '../lanes/reservations.js'
import { readUnpaid, type Charge } from '../tenants/metering.js'
import { wishesOf, type Intent, type NewIntent, type Owner } from './intents.js'
import type { Db } from '../connection/connect.js'
import type { ExecutionPlan } from '../../domain/intent.js'

/** A planned intent, and the call that asks for it. `planned`: how often money of the wallet was reserved before. */
export type Submission = Required<Pick<NewIntent, 'request' | 'units' | 'reserved'>> & {
  plan: ExecutionPlan
  planned: number
  owner: Omit<Owner, 'retryOf'>
  call: Charge
}

/**
 * Charges a call and stores its planned intent with what its steps reserve, if nobody has reserved money of
 * the wallet since. Those of an account that come together go in one statement.
 *
 * @returns Undefined when somebody has, or holds the wallet, or when credits do not suffice: nothing is done then.
 */
export async function submitPlanned(pool: Db, submission: Submission): Promise<Intent | undefined> {
  const { accountId, cost, route } = submission.call
  const intent = toIntent(submission)
  const line = JSON.stringify([accountId, cost, route])
  const createdAt = await submittersOf(pool).add(line, { ...submission, id: intent.id })
  return createdAt && { ...intent, createdAt }
}

type Submitting = Submission & { id: string }

const submittersOf = perPool((pool) =>
  gatherByName(async (calls: Submitting[]) => {
    const rows = await storeAll(pool, calls)
    const made = new Map(rows.map(({ at, createdAt }) => [at, createdAt]))
    return calls.map((_, i) => made.get(i + 1))
  }),
)

type Stored = { at: number; createdAt: Date }

/** Calls of one account, at one price. */
async function storeAll(pool: Db, calls: Submitting[]): Promise<Stored[]> {
  const [first] = calls
  if (!first) return []
  const { accountId, cost, route } = first.call
  const values = [
    ...[accountId, cost, route],
    ...columns.map((valueOf) => arrayText(calls.map(valueOf))),
    ...reservedColumns(calls),
  ]
  try {
    return await runPrepared<Stored>(pool, statement, values)
  } catch (error) {
    if (readUnpaid(error) === undefined) throw error
    // For some of them credits may suffice.
    return []
  }
}

type Column = (one: Submitting) => string | number | boolean | null

/** In the order of the parameters. */
const columns: Column[] = [
  ({ call }) => call.requestId,
  ({ id }) => id,
  ({ owner }) => owner.walletId,
  ({ planned }) => planned,
  ({ request }) => request.action,
  ({ request }) => request.asset,
  ({ units }) => units.toString(),
  ({ request }) => wishesOf(request).chain,
  ({ request }) => wishesOf(request).fromChain,
  ({ request }) => wishesOf(request).everything,
  ({ request }) => wishesOf(request).days,
  ({ owner }) => (owner.metadata ? JSON.stringify(owner.metadata) : null),
  ({ plan }) => JSON.stringify(plan),
]

/** Each reservation with the place of its intent among the calls, counted from 1. */
function reservedColumns(calls: Submitting[]): string[] {
  const places = calls.flatMap(({ reserved }, i) => reserved.map(() => i + 1))
  const parts = columnsOfClaims(calls.flatMap(({ reserved }) => reserved))
  return [places, ...parts].map((part) => arrayText(part))
}

const statement: Statement = {
  name: 'submit intents',
  text: `select at, created_at as "createdAt"
    from submit_intents(${Array.from({ length: 24 }, (_, i) => `$${i + 1}`).join(', ')})`,
}

/** The row as it is then, but for when it was created. */
function toIntent({ owner, request, units, plan }: Submission): Omit<Intent, 'createdAt'> {
  const { chain, fromChain, everything, days } = wishesOf(request)
  const { accountId, walletId, requestId, metadata } = owner
  return {
    ...{ id: newId('intent_'), accountId, walletId, requestId },
    ...{ action: request.action, asset: request.asset, units: units.toString() },
    ...{ chain, fromChain, everything, netOverDays: days },
    metadata: metadata ? asStored(metadata) : null,
    plan: asStored(plan),
    status: 'planning',
    ...{ delay: null, retryOf: null, error: null, seenBlocks: null },
    ...{ updatedAt: null, completedAt: null, cancelledAt: null, endedAt: null },
  }
}

/** As whoever reads it gets it: -0 becomes 0, and what is undefined is absent. */
const asStored = <Value>(value: Value) => JSON.parse(JSON.stringify(value)) as Value
