import { createBell } from '../bell.js'
import { connectAsLeader, isLedElsewhere } from '../db/connection/connect.js'
import { broadcastOpen } from './broadcast.js'
import { bookSpentKeys } from './missed.js'
import { watchQueue } from '../db/lanes/queue.js'
import { bookChain } from './book.js'
import { createDriverTools, forgetSends, openSince, type DriverTools } from './driverTools.js'
import { createHeadPace, QUIET_POLL_MS } from './headPace.js'
import { pause, repeat, RETRY_MS } from './repeat.js'
import { disabledBecause, type ChainClient } from '../chains/connect.js'
import type { PartLog } from '../log.js'
import type { Listener } from '../db/connection/listen.js'

/** Namespace of the advisory locks by which one process leads each chain. */
const DRIVER_LOCK = 7_702

/** What was sent less than this ago is hardly in a block yet: it is no reason to ask. */
const JUST_SENT_MS = 50
/** Keys that others have spent are looked for this often at most, however much is signed meanwhile. */
const SPENT_KEYS_MS = 1_000
/** What is final moves on in steps of seconds at the least; what hangs on it waits for minutes. */
const FINALITY_MS = 5_000

/** `url`: the database without a pooler in between. */
export type Driving = { url: string; client: ChainClient; listener: Listener; log: PartLog }

/**
 * Drives one chain until the signal aborts: broadcasts what the signer stored, books what the chain
 * says. One process leads at a time; the others wait for its session to end.
 */
export async function driveChain(
  { url, client, listener, log }: Driving,
  stopping: AbortSignal,
): Promise<void> {
  const { chain } = client
  const db = connectAsLeader(url, DRIVER_LOCK, chain.chainId)
  const tools = { ...createDriverTools(db, client, log), finalityMs: FINALITY_MS }
  const signed = watchQueue(listener, stopping, ['signed'])
  const heads = watchHeads(tools, stopping)
  const explain = (failure: string) => (error: unknown) => {
    Object.assign(tools.seen, { head: '', booked: undefined })
    // What a former leader knew of its sends is old by the time it leads again.
    if (isLedElsewhere(error)) forgetSends(tools)
    else log.warn({ err: error, chain: chain.name }, failure)
  }
  // What another chain says of our blocks and transactions must not become what is known of them.
  const isForeign = () => disabledBecause(client, 'node') !== undefined
  const broadcastNext = async () => {
    if (isForeign()) return pause(RETRY_MS, stopping)
    const wake = signed(RETRY_MS, chain.chainId)
    await broadcastOpen(tools)
    heads.expect()
    await bookSpentKeysNowAndThen(tools)
    await wake
  }
  const bookNext = async () => {
    if (isForeign()) return pause(RETRY_MS, stopping)
    const before = tools.following.head
    const more = await bookChain(tools)
    heads.answered(tools.following.head !== before)
    if (!more) await heads.untilNext()
  }
  try {
    await Promise.all([
      repeat(broadcastNext, explain('broadcasting failed'), stopping),
      repeat(bookNext, explain('booking failed'), stopping),
    ])
  } finally {
    await db.destroy()
  }
}

/** When to look for the next block: sooner while something that was sent is open, as then somebody waits for it. */
function watchHeads(tools: DriverTools, stopping: AbortSignal) {
  const { pollMs } = tools.client.chain
  const pace = createHeadPace()
  const sent = createBell()
  const waitMs = () => {
    const since = openSince(tools)
    const now = performance.now()
    if (since === undefined) return pace.nextAt(Math.max(pollMs, QUIET_POLL_MS)) - now
    const ageMs = Date.now() - since
    // Below zero where that clock was set back.
    const restMs = ageMs < 0 ? 0 : JUST_SENT_MS - ageMs
    return Math.max(pace.nextAt(pollMs) - now, restMs)
  }
  return {
    /** What was sent may be waited for from now on. */
    expect(): void {
      if (openSince(tools) !== undefined) sent.ring()
    },
    answered: (isNew: boolean) => pace.answered(performance.now(), isNew),
    async untilNext(): Promise<void> {
      for (let ms = waitMs(); ms > 0 && !stopping.aborted; ms = waitMs()) {
        await sent.wait(ms, stopping)
      }
    },
  }
}

async function bookSpentKeysNowAndThen(tools: DriverTools): Promise<void> {
  const { seen } = tools
  if (performance.now() - seen.spentKeysAt < SPENT_KEYS_MS) return
  await bookSpentKeys(tools)
  seen.spentKeysAt = performance.now()
}
