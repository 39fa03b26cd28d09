import { ServiceError } from '../domain/errors.js'
import { keyDigest, type Scope } from './accounts.js'
import { gather, gatherByName, perPool } from './gather.js'
import { runPrepared, type Statement } from './prepared.js'
import { selectScoped } from './scope.js'
import type { Db } from './connect.js'
import type { PlanName } from '../domain/tiers.js'

/** The verdict on one request, and what its answer's headers say. */
export type Admission = {
  /** SHA-256 of the key, in base64. */
  keyDigest: string
  accountId: string
  plan: PlanName
  scopes: string[]
  /** Requests per minute allowed, and counted in this minute with this one. */
  limit: number
  used: number
  /** Unix time in seconds at which the window ends. */
  resetAt: number
  /** Seconds until then, by the database's clock. At least 1. */
  retryAfter: number
  /** Credits left after this request's charge. */
  balance: bigint
  verdict: 'admitted' | 'rateLimited' | 'outOfScope' | 'outOfCredits'
}

type AdmitRow = {
  at: bigint
  account_id: string
  plan: PlanName
  scopes: string[]
  rpm: number
  win_used: number
  reset_at: bigint
  retry_after: number
  balance: bigint
  code: keyof typeof verdicts | typeof BUSY
}

const verdicts = {
  200: 'admitted',
  402: 'outOfCredits',
  403: 'outOfScope',
  429: 'rateLimited',
} as const
/** Another transaction holds the account: the call was neither counted nor charged. */
const BUSY = 0

type AdmitRequest = { requestId: string; cost: number; route: string; scope: Scope }
type AdmitCall = AdmitRequest & { digest: Buffer; keyDigest: string }

/**
 * Authenticates, counts and charges a request, exact over any number of processes. Requests that come
 * together are admitted by one statement.
 *
 * @param request - `cost` in credits; 0 when the call is charged later, together with what it creates.
 * @returns undefined when no live key has this text.
 */
export async function admit(
  db: Db,
  request: AdmitRequest & { key: string },
): Promise<Admission | undefined> {
  const digest = keyDigest(request.key)
  if (!digest) return undefined
  return admitTogether(db)({ ...request, digest, keyDigest: digest.toString('base64') })
}

const admitTogether = perPool((db) => {
  // Whoever holds an account for long, such as a process that froze, holds up its own calls only.
  const line = gatherByName((calls: AdmitCall[]) => askAdmissions(db, calls, true))
  const together = gather(async (calls: AdmitCall[]) => {
    const answers = await askAdmissions(db, calls, false)
    return calls.map((call, at) => {
      const answer = answers[at]
      return answer === 'busy' ? line.add(call.keyDigest, call) : answer
    })
  })
  return async (call: AdmitCall): Promise<Admission | undefined> => {
    const answer = await (line.has(call.keyDigest)
      ? line.add(call.keyDigest, call)
      : together(call))
    if (answer === 'busy') throw new Error('An account was held although it was waited for.')
    return answer
  }
})

const admitStatement: Statement = {
  name: 'admit_calls',
  text: 'select * from admit_calls($1, $2, $3, $4, $5, $6)',
}

/** One answer for each call, in their order. */
async function askAdmissions(
  db: Db,
  calls: AdmitCall[],
  wait: boolean,
): Promise<(Admission | 'busy' | undefined)[]> {
  const rows = await runPrepared<AdmitRow>(db, admitStatement, [
    calls.map(({ digest }) => digest),
    calls.map(({ requestId }) => requestId),
    calls.map(({ cost }) => cost),
    calls.map(({ route }) => route),
    calls.map(({ scope }) => scope),
    wait,
  ])
  const found = new Map(rows.map((row) => [Number(row.at) - 1, row]))
  return calls.map((call, at) => toAdmission(call, found.get(at)))
}

function toAdmission(call: AdmitCall, row?: AdmitRow): Admission | 'busy' | undefined {
  if (!row) return undefined
  if (row.code === BUSY) return 'busy'
  return {
    keyDigest: call.keyDigest,
    accountId: row.account_id,
    plan: row.plan,
    scopes: row.scopes,
    limit: row.rpm,
    used: row.win_used,
    resetAt: Number(row.reset_at),
    retryAfter: row.retry_after,
    balance: row.balance,
    verdict: verdicts[row.code],
  }
}

export type Payment = { paid: boolean; balance: bigint }

/**
 * Takes credits in the caller's transaction.
 *
 * @returns What is left. Nothing was taken when the account has too few: `paid` is false then.
 */
export async function charge(
  trx: Db,
  call: { accountId: string; requestId: string; cost: number; route: string },
): Promise<Payment> {
  const { accountId, requestId, cost, route } = call
  const { rows } = await trx.raw<{ rows: [Payment] }>('select * from charge_call(?, ?, ?, ?)', [
    ...[accountId, requestId, cost, route],
  ])
  return rows[0]
}

/** Gives a request's charge back, to the credits it came from. A second call changes nothing. */
export async function refund(db: Db, requestId: string): Promise<void> {
  await db.raw('select refund_call(?)', [requestId])
}

export type CreditAccount = {
  balance: number
  totalPurchased: number
  totalUsed: number
  plan: PlanName
}

type CreditRow = {
  granted: bigint
  purchased: bigint
  total_purchased: bigint
  total_used: bigint
  plan: PlanName
}

/** The account's credits: what is left of the monthly and the purchased ones together. */
export async function readCredits(db: Db, accountId: string): Promise<CreditAccount> {
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
