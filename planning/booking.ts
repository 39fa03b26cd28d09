import { setTimeout as sleep } from 'node:timers/promises'
import { transactScoped } from '../db/connection/scope.js'
import { readBookedBlocks } from '../db/lanes/reservations.js'
import { ServiceError } from '../domain/errors.js'
import { isLack } from '../domain/plan/insufficientFunds.js'
import { needsAll, readAhead, readMarket, readNeeded, type MarketTools } from './market.js'
import { planFrom, type PlanInput } from './plan.js'
import type { Db } from '../db/connection/connect.js'
import type { SeenBlock } from '../db/intents/intents.js'
import type { IntentRequest } from '../domain/intent.js'

/** Booking is behind a chain by less than this, unless the lanes are away. */
const WAIT_MS = 2_000
const POLL_MS = 100

/** A wallet, and the account that it belongs to. */
export type Spender = { accountId: string; walletId: string; address: string }

type Trial<T> = {
  request: IntentRequest
  attempt: (input: PlanInput) => Promise<T>
  waitMs?: number | undefined
}

/**
 * Does `attempt` with what the chains say at the booked blocks. Where that lacks money which newer blocks show, it
 * is done once more when those are booked, after `waitMs` at most, two seconds; `seen` tells which blocks are missing then.
 * Nothing is held while it waits. Whoever lacks nothing asks no more than the chains that he needs.
 *
 * @throws {ServiceError} As `attempt` does.
 */
export async function planOnceBooked<T>(
  tools: MarketTools,
  spender: Spender,
  { request, attempt, waitMs = WAIT_MS }: Trial<T>,
): Promise<T> {
  const needed = { request, market: await readNeeded(tools, spender.address, request) }
  try {
    return await attempt(needed)
  } catch (error) {
    if (!isLack(error)) throw error
    const isWhole = needsAll(request)
    const input = isWhole
      ? needed
      : { request, market: await readMarket(tools, spender.address, request) }
    const seen = await findUnbooked(tools.db, spender, input)
    if (!seen && isWhole) throw error
    if (!seen) return attempt(input)
    const missing = await awaitBooked(tools.db, seen, waitMs)
    const market = await readMarket(tools, spender.address, request)
    return attempt({ request, market, ...(missing.length > 0 ? { seen: missing } : {}) })
  }
}

/**
 * Heads of chains that are not booked and at which the wallet has the money, as far as one can tell: undefined when
 * it has not, and when all is booked.
 */
export async function findUnbooked(
  db: Db,
  { accountId, walletId, address }: Spender,
  { request, market }: Omit<PlanInput, 'seen'>,
): Promise<SeenBlock[] | undefined> {
  const ahead = await Promise.all(
    // A node that is silent now shows nothing.
    market.snapshots.map((one) => readAhead(one, address, request).catch(() => undefined)),
  )
  if (ahead.every((one) => one === undefined)) return undefined
  const snapshots = market.snapshots.map((one, i) => ahead[i] ?? one)
  const lacks = await transactScoped(db, accountId, async (trx) => {
    try {
      await planFrom(trx, walletId, { request, market: { ...market, snapshots } })
      return false
    } catch (error) {
      if (error instanceof ServiceError) return isLack(error)
      throw error
    }
  })
  if (lacks) return undefined
  return ahead.flatMap((one) => {
    if (!one) return []
    return [{ chainId: Number(one.booked.chainId), number: one.booked.number.toString() }]
  })
}

/** Those of the blocks that are not booked after a while; none as soon as all of them are. */
async function awaitBooked(db: Db, seen: SeenBlock[], waitMs: number): Promise<SeenBlock[]> {
  const deadline = Date.now() + waitMs
  for (;;) {
    const missing = await listUnbooked(db, seen)
    if (missing.length === 0 || Date.now() >= deadline) return missing
    await sleep(POLL_MS)
  }
}

/** Those of the blocks that are not booked. */
export async function listUnbooked(db: Db, seen: SeenBlock[]): Promise<SeenBlock[]> {
  if (seen.length === 0) return []
  const booked = await readBookedBlocks(db)
  return seen.filter(({ chainId, number }) => {
    const at = booked.find((one) => one.chainId === BigInt(chainId))
    return !at || at.number < BigInt(number)
  })
}
