import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../domain/errors.js'
import { keyDigest, type Scope } from '../accounts/accounts.js'
import { coalesce } from '../client/coalesce.js'
import { perPool } from '../client/perPool.js'
import { runPrepared, type Statement } from '../client/prepared.js'
import { selectScoped, type Joined, type Lookup } from '../client/scope.js'
import type { Db } from '../client/connect.js'
import type { GasBudgets, Tier } from '../../domain/tiers.js'

/** The decision on a request, with the values of its response headers. */
export type Admission = {
  /** SHA-256 of the key, in base64. */
  keyDigest: string
  accountId: string
  tier: Tier
  scopes: Scope[]
  /** Rate limit per minute, and the count of this minute including this request. */
  limit: number
  used: number
  /** Unix time in seconds at which the minute ends. */
  resetAt: number
  /** Seconds until then, by the database's clock. At least 1. */
  retryAfter: number
  /** Remaining credits after the charge of this request. */
  balance: bigint
  verdict: 'admitted' | 'rateLimited' | 'outOfScope' | 'outOfCredits' | 'suspended'
}

/** Columns of a call, with names that differ from those of looked-up rows. */
type CallRow = {
  callAt: bigint
  callAccount: string
  callTier: Tier
  callScopes: Scope[]
  callLimit: number
  callUsed: number
  callResetAt: bigint
  callRetryAfter: number
  callBalance: bigint
  callCode: keyof typeof verdicts | typeof BUSY
}

const verdicts = {
  200: 'admitted',
  402: 'outOfCredits',
  403: 'outOfScope',
  423: 'suspended',
  429: 'rateLimited',
} as const
/** Another transaction has locked the account. The call was neither counted nor charged. */
const BUSY = 0
/** Retry interval and time limit for a locked account. A charge holds the lock for some milliseconds. */
const BUSY_RETRY_MS = 5
const BUSY_PATIENCE_MS = 10_000

type AdmitRequest = { requestId: string; cost: number; route: string; scope: Scope }
type AdmitCall = AdmitRequest & { digest: Buffer; keyDigest: string; searchKey: string | null }
type Admitted<Row> = Admission & { found: Row | undefined }

/** A row of the caller's account to look up for a request. */
export type Search<Row> = { lookup: Lookup<Row>; key: string }

/**
 * Authenticates, counts and charges a request, exact over any number of processes. Concurrent requests are batched into
 * one statement.
 *
 * @param request - `cost` in credits. 0 when the call is charged later, together with its effect.
 * @param search - Looked up in the same statement when the request is admitted.
 * @returns Undefined when the key is not valid.
 */
export async function admit<Row>(
  db: Db,
  { key, ...request }: AdmitRequest & { key: string },
  search?: Search<Row>,
): Promise<Admitted<Row> | undefined> {
  const digest = keyDigest(key)
  if (!digest) return undefined
  const searchKey = search?.key ?? null
  const call = { ...request, digest, keyDigest: digest.toString('base64'), searchKey }
  const ask = admissionsOf(db)(search?.lookup)
  for (const until = Date.now() + BUSY_PATIENCE_MS; ;) {
    const answer = await ask(call)
    if (answer !== 'busy') return answer as Admitted<Row> | undefined
    if (Date.now() >= until) {
      throw new ServiceError('UNAVAILABLE', 'Another call has locked the account. Try again.')
    }
    await sleep(BUSY_RETRY_MS)
  }
}

type Joining = Pick<Lookup<unknown>, 'name' | 'join'>
type AdmissionResult = Admitted<unknown> | 'busy' | undefined

/** Requests that look up the same kind of row are batched together. */
const admissionsOf = perPool((db) => {
  const asks = new Map<Joining | undefined, (call: AdmitCall) => Promise<AdmissionResult>>()
  return (lookup?: Joining) => {
    const statement = admitStatement(lookup)
    const ask = asks.get(lookup) ?? coalesce((calls) => askAdmissions(db, statement, calls))
    asks.set(lookup, ask)
    return ask
  }
})

const admitStatement = (lookup?: Joining): Statement => ({
  name: `admit ${lookup?.name ?? ''}`,
  text: `select a.at as "callAt", a.account_id as "callAccount", a.plan as "callTier",
      a.scopes as "callScopes", a.rpm as "callLimit", a.win_used as "callUsed",
      a.reset_at as "callResetAt", a.retry_after as "callRetryAfter", a.balance as "callBalance",
      a.code as "callCode"${lookup ? ', row.*' : ''}
    from admit_calls($1, $2, $3, $4, $5) as a
    cross join lateral (select a.account_id as account,
      case when a.code = 200 then ($6::text[])[a.at] end as key) as call ${lookup?.join ?? ''}`,
})

/** One result per call, in their order. */
async function askAdmissions(
  db: Db,
  statement: Statement,
  calls: AdmitCall[],
): Promise<AdmissionResult[]> {
  const rows = await runPrepared<CallRow & Joined>(db, statement, [
    calls.map(({ digest }) => digest),
    calls.map(({ requestId }) => requestId),
    calls.map(({ cost }) => cost),
    calls.map(({ route }) => route),
    calls.map(({ scope }) => scope),
    calls.map(({ searchKey }) => searchKey),
  ])
  const found = new Map(rows.map((row) => [Number(row.callAt) - 1, row]))
  return calls.map((call, at) => toAdmitted(call, found.get(at)))
}

/** The looked-up row keeps the columns of its call: copying it without them would be the most expensive part. */
function toAdmitted({ keyDigest }: AdmitCall, row?: CallRow & Joined): AdmissionResult {
  if (!row) return undefined
  if (row.callCode === BUSY) return 'busy'
  return {
    keyDigest,
    accountId: row.callAccount,
    tier: row.callTier,
    scopes: row.callScopes,
    limit: row.callLimit,
    used: row.callUsed,
    resetAt: Number(row.callResetAt),
    retryAfter: row.callRetryAfter,
    balance: row.callBalance,
    verdict: verdicts[row.callCode],
    found: row.found ? row : undefined,
  }
}

/** The charge of a call. `route`: its name in the ledger. `gas`: the estimated gas of a new intent. */
export type Charge = {
  accountId: string
  requestId: string
  cost: number
  route: string
  gas?: { usd: number; budgets: GasBudgets | undefined } | undefined
}
/** The gas budget of an account's plan that does not suffice, USD. `retryAfter`: seconds until the next UTC day. */
export type SpentGasBudget = { usedUsd: number; budgetUsd: number; retryAfter: number }
/** `gas`: set when the gas budget does not suffice. The caller then rolls back. */
export type Payment = { paid: boolean; balance: bigint; gas?: SpentGasBudget }

/**
 * Charges credits in the caller's transaction, and scopes the transaction to the account.
 *
 * @returns The new balance. `paid` is false, and nothing is charged, when the account has too few credits.
 */
export async function charge(
  trx: Db,
  { accountId, requestId, cost, route, gas }: Charge,
): Promise<Payment> {
  const [row] = await runPrepared<PaymentRow>(trx, chargeStatement, [
    ...[accountId, requestId, cost, route],
    ...[gas?.usd ?? null, gas?.budgets ? JSON.stringify(gas.budgets) : null],
  ])
  if (!row) throw new Error('The charge returned no row.')
  const { gas: spent, ...payment } = row
  return spent ? { ...payment, gas: spent } : payment
}

type PaymentRow = Omit<Payment, 'gas'> & { gas: SpentGasBudget | null }

const chargeStatement: Statement = {
  name: 'charge',
  text: `select paid, balance, gas from charge_call(set_config('app.account', $1, true), $2, $3, $4, $5, $6)`,
}

/** Locks the account's row until the transaction ends. Concurrent charges and counts of its resources wait. */
export async function lockAccount(trx: Db, accountId: string): Promise<void> {
  await trx.raw('select lock_account(?)', [accountId])
}

/** Refunds the charge of a request, to the credits it came from. Idempotent. */
export async function refund(db: Db, requestId: string): Promise<void> {
  await db.raw('select refund_call(?)', [requestId])
}

export type CreditBalances = {
  balance: number
  totalPurchased: number
  totalUsed: number
  plan: Tier
}

type CreditRow = {
  granted: bigint
  purchased: bigint
  total_purchased: bigint
  total_used: bigint
  plan: Tier
}

/** The account's credits: monthly and purchased ones together. */
export async function readCredits(db: Db, accountId: string): Promise<CreditBalances> {
  const query = db('account')
    .where({ id: accountId })
    .select('granted', 'purchased', 'total_purchased', 'total_used', 'plan')
  const [row] = await selectScoped<CreditRow>(db, accountId, query)
  if (!row) throw new ServiceError('NOT_FOUND', `There is no account ${accountId}.`)
  return {
    balance: Number(row.granted + row.purchased),
    totalPurchased: Number(row.total_purchased),
    totalUsed: Number(row.total_used),
    plan: row.plan,
  }
}
