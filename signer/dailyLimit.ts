import { refusal } from '../custody/policy.js'
import {
  areOthersWaiting,
  findRoomAt,
  insertSignedAmount,
  lockSignedAmounts,
  readSignedToday,
  type Counted,
} from '../db/lanes/signedAmounts.js'
import { refuseOperation, type Refusal } from '../db/lanes/signing.js'
import { assetText } from '../domain/money.js'
import { DAILY_LIMIT } from '../domain/operation.js'
import { keptRefusal, takenBy, type SignerTools } from './round.js'
import type { Db } from '../db/connection/connect.js'
import type { Prepared } from './prepare.js'

/** It is looked at again this often, for an operator may have raised the limit meanwhile. */
const LONGEST_WAIT_MS = 600_000
const SHORTEST_WAIT_MS = 1_000

type LimitTools = Pick<SignerTools, 'keyring' | 'limits' | 'log'>

/** A limit in base units of dollars, and what counts towards it. `name` begins a sentence. */
type Limit = { name: string; units: bigint; counted: Counted }

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
  const { limits } = tools
  if (limits?.dailyUnits !== undefined || limits?.walletDailyUnits !== undefined) {
    await lockSignedAmounts(trx)
  }
  const within: Prepared[] = []
  for (const one of prepared) {
    const units = movedBy(one)
    const full = units > 0n ? await findFull(trx, limitsOf(tools, one), units) : undefined
    if (full) await defer(trx, tools, { one, full, units })
    else within.push(one)
    if (!full && units > 0n) await insertSignedAmount(trx, one.operation, units)
  }
  return within
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

function limitsOf({ limits }: LimitTools, { operation }: Prepared): Limit[] {
  const { walletDailyUnits, dailyUnits } = limits ?? {}
  const { walletId } = operation
  return [
    ...(walletDailyUnits === undefined
      ? []
      : [{ name: 'The wallet', units: walletDailyUnits, counted: { walletId } }]),
    ...(dailyUnits === undefined
      ? []
      : [{ name: 'The deployment', units: dailyUnits, counted: {} }]),
  ]
}

/** `roomAt`: absent when there will never be room. */
type Full = Limit & { roomAt: Date | undefined }

async function findFull(trx: Db, limits: Limit[], units: bigint): Promise<Full | undefined> {
  for (const limit of limits) {
    const excess = (await readSignedToday(trx, limit.counted)) + units - limit.units
    if (excess <= 0n) continue
    const isPossible = units <= limit.units
    const roomAt = isPossible ? await findRoomAt(trx, limit.counted, excess) : undefined
    return { ...limit, roomAt }
  }
  return undefined
}

async function defer(
  trx: Db,
  tools: LimitTools,
  { one: { operation }, full, units }: { one: Prepared; full: Full; units: bigint },
): Promise<void> {
  const { id, walletId } = operation
  const verdict = { ...refusalOf(full, units), ...keptRefusal(operation) }
  const isFirst = !(await areOthersWaiting(trx, id, full.counted))
  if (isFirst && operation.code !== DAILY_LIMIT) {
    const facts = { operation: id, wallet: walletId, limit: verdict.message }
    tools.log.error(facts, 'daily limit reached')
  }
  await refuseOperation(trx, takenBy(tools, operation), verdict)
}

function refusalOf({ name, units: limit, roomAt }: Full, units: bigint): Refusal {
  const of = `its daily limit of ${assetText(limit)} USD`
  if (!roomAt) {
    const { code, message } = refusal(`${assetText(units)} USD are more than ${of}.`)
    return { state: 'deferred', code, message, retryAfterMs: LONGEST_WAIT_MS }
  }
  const waitMs = Math.max(roomAt.getTime() - Date.now(), SHORTEST_WAIT_MS)
  return {
    state: 'deferred',
    code: DAILY_LIMIT,
    message: `${name} has no room for ${assetText(units)} USD under ${of} until ${roomAt.toISOString()}.`,
    retryAfterMs: Math.min(waitMs, LONGEST_WAIT_MS),
  }
}
