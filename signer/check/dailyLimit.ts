import { refusal } from '../../custody/policy.js'
import {
  areOthersWaiting,
  findCapacityAt,
  insertSignedAmounts,
  lockSignedAmounts,
  readSignedToday,
  readSignedTodayOf,
  type SignedAmountFilter,
  type SignedAmount,
} from '../../operations/signing/signedAmounts.js'
import { refuseOperation, type SigningRefusal } from '../../operations/signing/signing.js'
import { assetText } from '../../domain/money.js'
import { DAILY_LIMIT } from '../../domain/intent/operation.js'
import { keptRefusal, claimedBy, type SignerTools } from '../signingContext.js'
import { RETRY_MS } from '../../runtime/durations.js'
import type { Db } from '../../db/client/connect.js'
import type { Prepared } from '../prepare.js'

/** Longest time until a retry: an operator may have raised the limit. */
const LONGEST_WAIT_MS = 600_000

type LimitTools = Pick<SignerTools, 'keyring' | 'limits' | 'log'>

/** A limit in base units of USD, the amounts that count towards it, and their sum. `name` begins a sentence. */
type DailyLimit = { name: string; units: bigint; counted: SignedAmountFilter; signed: bigint }

/** An operation that exceeds a limit by `excess` units. */
type ExcessOperation = { one: Prepared; units: bigint; full: DailyLimit; excess: bigint }

/**
 * Selects the operations that fit the daily limits and counts them, in the transaction that signs them. The others
 * are deferred until they fit. The first deferral is logged as an error for the operator.
 *
 * @param prepared - Locked by the transaction.
 */
export async function keepWithinDay(
  trx: Db,
  tools: LimitTools,
  prepared: Prepared[],
): Promise<Prepared[]> {
  const day = await readDay(trx, tools, prepared)
  const within: Prepared[] = []
  const amounts: SignedAmount[] = []
  const excessOperations: ExcessOperation[] = []
  for (const one of prepared) {
    const units = movedBy(one)
    const limits = units > 0n ? limitsOf(tools, day, one) : []
    const full = limits.find((limit) => limit.signed + units > limit.units)
    if (full) {
      excessOperations.push({ one, units, full, excess: full.signed + units - full.units })
      continue
    }
    within.push(one)
    if (units === 0n) continue
    amounts.push({ ...one.operation, units })
    countIn(day, one, units)
  }
  await insertSignedAmounts(trx, amounts)
  for (const one of excessOperations) await defer(trx, tools, one)
  return within
}

/** Sums of the last 24 hours, including the operations about to be signed. A sum without a limit stays empty. */
type SignedSums = { all: bigint; fundings: bigint; ofWallets: Map<string, bigint> }

/** Exact until the transaction ends, if a limit is set. */
async function readDay(trx: Db, { limits }: LimitTools, prepared: Prepared[]): Promise<SignedSums> {
  const { dailyUnits, walletDailyUnits } = limits ?? {}
  const pays = prepared.some(({ kind }) => kind === 'funding')
  const fundingDailyUnits = pays ? limits?.fundingDailyUnits : undefined
  const isLimited = [dailyUnits, walletDailyUnits, fundingDailyUnits].some(isSet)
  if (isLimited && prepared.length > 0) await lockSignedAmounts(trx)
  const wallets = prepared.map(({ operation }) => operation.walletId)
  return {
    all: isSet(dailyUnits) ? await readSignedToday(trx) : 0n,
    fundings: isSet(fundingDailyUnits) ? await readSignedToday(trx, { isFunding: true }) : 0n,
    ofWallets: isSet(walletDailyUnits)
      ? await readSignedTodayOf(trx, wallets)
      : new Map<string, bigint>(),
  }
}

const isSet = (units: bigint | undefined) => units !== undefined

function countIn(day: SignedSums, { kind, operation: { walletId } }: Prepared, units: bigint) {
  day.all += units
  if (kind === 'funding') day.fundings += units
  day.ofWallets.set(walletId, (day.ofWallets.get(walletId) ?? 0n) + units)
}

/** Base units in USD that the operation sets in motion. A mint continues what its burn has counted. */
function movedBy(prepared: Prepared): bigint {
  switch (prepared.kind) {
    case 'userOperation':
      return prepared.movedUnits
    case 'funding':
      return prepared.units
    case 'mint':
      return 0n
  }
}

function limitsOf({ limits }: LimitTools, day: SignedSums, prepared: Prepared): DailyLimit[] {
  const { walletId } = prepared.operation
  const ofWallet = day.ofWallets.get(walletId) ?? 0n
  const all = [
    {
      name: 'The wallet',
      units: limits?.walletDailyUnits,
      counted: { walletId },
      signed: ofWallet,
    },
    { name: 'The deployment', units: limits?.dailyUnits, counted: {}, signed: day.all },
    {
      name: 'The treasury',
      units: prepared.kind === 'funding' ? limits?.fundingDailyUnits : undefined,
      ...{ counted: { isFunding: true as const }, signed: day.fundings },
    },
  ]
  return all.flatMap(({ units, ...limit }) => (units === undefined ? [] : { units, ...limit }))
}

async function defer(trx: Db, tools: LimitTools, excessOperations: ExcessOperation): Promise<void> {
  const { one, units, full, excess } = excessOperations
  const { operation } = one
  const { id, walletId } = operation
  const isPossible = units <= full.units
  const capacityAt = isPossible ? await findCapacityAt(trx, full.counted, excess) : undefined
  const verdict = { ...refusalOf({ ...full, capacityAt }, units), ...keptRefusal(operation) }
  const isFirst = !(await areOthersWaiting(trx, id, full.counted))
  if (isFirst && operation.code !== DAILY_LIMIT) {
    const facts = { operation: id, wallet: walletId, limit: verdict.message }
    tools.log.error(facts, 'daily limit reached')
  }
  await refuseOperation(trx, claimedBy(tools, operation), verdict)
}

/** `capacityAt`: when the amount fits; undefined when it never fits. */
type Full = DailyLimit & { capacityAt: Date | undefined }

function refusalOf({ name, units: limit, capacityAt }: Full, units: bigint): SigningRefusal {
  const of = `its daily limit of ${assetText(limit)} USD`
  if (!capacityAt) {
    const { code, message } = refusal(`${assetText(units)} USD exceed ${of}.`)
    return { state: 'deferred', code, message, retryAfterMs: LONGEST_WAIT_MS }
  }
  const waitMs = Math.max(capacityAt.getTime() - Date.now(), RETRY_MS)
  return {
    state: 'deferred',
    code: DAILY_LIMIT,
    message: `${name} cannot sign ${assetText(units)} USD under ${of} until ${capacityAt.toISOString()}.`,
    retryAfterMs: Math.min(waitMs, LONGEST_WAIT_MS),
  }
}
