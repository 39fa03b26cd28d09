import { setTimeout as sleep } from 'node:timers/promises'
import { transactScoped } from '../db/client/scope.js'
import { wantIndexed } from '../db/client/listen.js'
import { readIndexedBlocks } from '../db/intents/reservations.js'
import { ServiceError } from '../domain/errors.js'
import { isLack } from '../domain/plan/insufficientFunds.js'
import { needsAll, readAhead, readMarket, readNeeded, type MarketTools } from './market.js'
import { planFrom, type PlanInput } from './plan.js'
import type { Db } from '../db/client/connect.js'
import type { SeenBlock } from '../db/intents/intents.js'
import type { IntentRequest } from '../domain/intent/intent.js'

/** Indexing is behind a chain by less than this, unless the relayer is not running. */
const WAIT_MS = 2_000
const POLL_MS = 100

/** A wallet and its account. */
export type Spender = { accountId: string; walletId: string; address: string }

type PlanAttempt<T> = {
  request: IntentRequest
  attempt: (input: PlanInput) => Promise<T>
  waitMs?: number | undefined
}

/**
 * Runs `attempt` with chain data at the indexed blocks. When money is missing there but visible in newer blocks, it waits
 * up to `waitMs` (two seconds) for these blocks to be indexed and retries once. `seen` lists the blocks that are still
 * missing then. No lock is held while it waits. Requests with enough money read only the chains that they need.
 *
 * @throws {ServiceError} As `attempt` does.
 */
export async function planOnceIndexed<T>(
  tools: MarketTools,
  spender: Spender,
  { request, attempt, waitMs = WAIT_MS }: PlanAttempt<T>,
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
    const seen = await findUnindexed(tools.db, spender, input)
    if (!seen && isWhole) throw error
    if (!seen) return attempt(input)
    const missing = await awaitIndexed(tools.db, seen, waitMs)
    const market = await readMarket(tools, spender.address, request)
    return attempt({ request, market, ...(missing.length > 0 ? { seen: missing } : {}) })
  }
}

/**
 * Heads of chains that are not indexed yet and show enough money for the request. Undefined when the money is missing
 * there too, or when all heads are indexed.
 */
export async function findUnindexed(
  db: Db,
  { accountId, walletId, address }: Spender,
  { request, market }: Omit<PlanInput, 'seen'>,
): Promise<SeenBlock[] | undefined> {
  const ahead = await Promise.all(
    // An unresponsive node contributes no block.
    market.snapshots.map((one) => readAhead(one, address, request).catch(() => undefined)),
  )
  if (ahead.every((one) => one === undefined)) return undefined
  const snapshots = market.snapshots.map((one, i) => ahead[i] ?? one)
  const isMissing = await transactScoped(db, accountId, async (trx) => {
    try {
      await planFrom(trx, walletId, { request, market: { ...market, snapshots } })
      return false
    } catch (error) {
      if (error instanceof ServiceError) return isLack(error)
      throw error
    }
  })
  if (isMissing) return undefined
  return ahead.flatMap((one) => {
    if (!one) return []
    return [{ chainId: Number(one.indexed.chainId), number: one.indexed.number.toString() }]
  })
}

/** Waits, then returns the blocks that are still not indexed. Returns early when all are. */
async function awaitIndexed(db: Db, seen: SeenBlock[], waitMs: number): Promise<SeenBlock[]> {
  for (const { chainId } of seen) await wantIndexed(db, chainId)
  const deadline = Date.now() + waitMs
  for (;;) {
    const missing = await listUnindexed(db, seen)
    if (missing.length === 0 || Date.now() >= deadline) return missing
    await sleep(POLL_MS)
  }
}

/** The given blocks that are not indexed. */
export async function listUnindexed(db: Db, seen: SeenBlock[]): Promise<SeenBlock[]> {
  if (seen.length === 0) return []
  const indexed = await readIndexedBlocks(db)
  return seen.filter(({ chainId, number }) => {
    const at = indexed.find((one) => one.chainId === BigInt(chainId))
    return !at || at.number < BigInt(number)
  })
}
