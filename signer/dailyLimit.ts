import { refusal } from '../custody/policy.js'
import {
  areOthersWaiting,
  findRoomAt,
  insertSignedAmounts,
  lockSignedAmounts,
  readSignedToday,
  readSignedTodayOf,
  type SignedAmountFilter,
  type SignedAmount,
} from '../db/lanes/signedAmounts.js'
import { refuseOperation, type SigningRefusal } from '../db/lanes/signing.js'
import { assetText } from '../domain/money.js'
import { DAILY_LIMIT } from '../domain/operation.js'
import { keptRefusal, takenBy, type SignerTools } from './round.js'
import { RETRY_MS } from '../durations.js'
import type { Db } from '../db/connection/connect.js'
import type { Prepared } from './prepare.js'

/** It is looked at again this often, for an operator may have raised the limit meanwhile. */
const LONGEST_WAIT_MS = 600_000

type LimitTools = Pick<SignerTools, 'keyring' | 'limits' | 'log'>

/** A limit in base units of dollars, what counts towards it, and how much does. `name` begins a sentence. */
type Limit = { name: string; units: bigint; counted: SignedAmountFilter; signed: bigint }

/** An operation for which there is no room under a limit, by so many units too few. */
type TooMuch = { one: Prepared; units: bigint; full: Limit; excess: bigint }

/**
 * Of operations that are about to be signed in the caller's transaction those for which there is room under the daily
 * limits, and counts them. The others are deferred until there is, and an operator is told of the first one.
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
  const tooMuch: TooMuch[] = []
  for (const one of prepared) {
    const units = movedBy(one)
    const limits = units > 0n ? limitsOf(tools, day, one) : []
    const full = limits.find((limit) => limit.signed + units > limit.units)
    if (full) {
      tooMuch.push({ one, units, full, excess: full.signed + units - full.units })
      continue
    }
    within.push(one)
    if (units === 0n) continue
    amounts.push({ ...one.operation, units })
    countIn(day, one, units)
  }
  await insertSignedAmounts(trx, amounts)
  for (const one of tooMuch) await defer(trx, tools, one)
  return within
}

/** What was signed in the last 24 hours as far as there is a limit for it, with what is about to be. */
type Day = { all: bigint; ofWallets: Map<string, bigint> }

/** Exact until the transaction ends, where there is a limit. */
async function readDay(trx: Db, { limits }: LimitTools, prepared: Prepared[]): Promise<Day> {
  const { dailyUnits, walletDailyUnits } = limits ?? {}
  const isLimited = dailyUnits !== undefined || walletDailyUnits !== undefined
  if (isLimited && prepared.length > 0) await lockSignedAmounts(trx)
  const wallets = prepared.map(({ operation }) => operation.walletId)
  return {
    all: dailyUnits === undefined ? 0n : await readSignedToday(trx),
    ofWallets:
      walletDailyUnits === undefined
        ? new Map<string, bigint>()
        : await readSignedTodayOf(trx, wallets),
  }
}

function countIn(day: Day, { operation: { walletId } }: Prepared, units: bigint): void {
  day.all += units
  day.ofWallets.set(walletId, (day.ofWallets.get(walletId) ?? 0n) + units)
}

/** Dollars that begin to move, in base units. A mint goes on with what a burn has moved. */
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

function limitsOf({ limits }: LimitTools, day: Day, { operation }: Prepared): Limit[] {
  const { walletDailyUnits, dailyUnits } = limits ?? {}
  const { walletId } = operation
  const ofWallet = { counted: { walletId }, signed: day.ofWallets.get(walletId) ?? 0n }
  return [
    ...(walletDailyUnits === undefined
      ? []
      : [{ name: 'The wallet', units: walletDailyUnits, ...ofWallet }]),
    ...(dailyUnits === undefined
      ? []
      : [{ name: 'The deployment', units: dailyUnits, counted: {}, signed: day.all }]),
  ]
}

async function defer(trx: Db, tools: LimitTools, tooMuch: TooMuch): Promise<void> {
  const { one, units, full, excess } = tooMuch
  const { operation } = one
  const { id, walletId } = operation
  const isPossible = units <= full.units
  const roomAt = isPossible ? await findRoomAt(trx, full.counted, excess) : undefined
  const verdict = { ...refusalOf({ ...full, roomAt }, units), ...keptRefusal(operation) }
  const isFirst = !(await areOthersWaiting(trx, id, full.counted))
  if (isFirst && operation.code !== DAILY_LIMIT) {
    const facts = { operation: id, wallet: walletId, limit: verdict.message }
    tools.log.error(facts, 'daily limit reached')
  }
  await refuseOperation(trx, takenBy(tools, operation), verdict)
}

/** `roomAt`: absent when there will never be room. */
type Full = Limit & { roomAt: Date | undefined }

function refusalOf({ name, units: limit, roomAt }: Full, units: bigint): SigningRefusal {
  const of = `its daily limit of ${assetText(limit)} USD`
  if (!roomAt) {
    const { code, message } = refusal(`${assetText(units)} USD are more than ${of}.`)
    return { state: 'deferred', code, message, retryAfterMs: LONGEST_WAIT_MS }
  }
  const waitMs = Math.max(roomAt.getTime() - Date.now(), RETRY_MS)
  return {
    state: 'deferred',
    code: DAILY_LIMIT,
    message: `${name} has no room for ${assetText(units)} USD under ${of} until ${roomAt.toISOString()}.`,
    retryAfterMs: Math.min(waitMs, LONGEST_WAIT_MS),
  }
}
