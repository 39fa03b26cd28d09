import { connectAsLeader, isLedElsewhere } from '../db/connection/connect.js'
import { broadcastOpen } from './broadcast.js'
import { bookSpentKeys } from './missed.js'
import { watchQueue } from '../db/lanes/queue.js'
import { bookChain } from './book.js'
import { createDriverTools, forgetSends, openSince, type DriverTools } from './driverTools.js'
import { createHeadPace } from './headPace.js'
import { pause, repeat, RETRY_MS } from './repeat.js'
import { disabledBecause, type ChainClient } from '../chains/connect.js'
import type { PartLog } from '../log.js'
import type { Listener } from '../db/connection/listen.js'

/** Namespace of the advisory locks by which one process leads each chain. */
const DRIVER_LOCK = 7_702

/** While nothing that was sent is open nobody waits for the next block: it is looked for this often at most. */
const QUIET_POLL_MS = 250
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
  const pace = createHeadPace()
  // What is sent meanwhile is waited for from then on.
  const untilNextHead = async () => {
    for (;;) {
      const since = openSince(tools)
      const pollMs = since === undefined ? Math.max(chain.pollMs, QUIET_POLL_MS) : chain.pollMs
      // Below zero also where that clock was set back.
      const ageMs = since === undefined ? -1 : Date.now() - since
      const restMs = ageMs < 0 ? 0 : JUST_SENT_MS - ageMs
      const leftMs = Math.max(pace.nextAt(pollMs) - performance.now(), restMs)
      if (leftMs <= 0 || stopping.aborted) return
      await pause(Math.min(leftMs, chain.pollMs), stopping)
    }
  }
  const explain = (failure: string) => (error: unknown) => {
    tools.seen.head = ''
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
    await bookSpentKeysNowAndThen(tools)
    await wake
  }
  const bookNext = async () => {
    if (isForeign()) return pause(RETRY_MS, stopping)
    const before = tools.following.head
    const more = await bookChain(tools)
    pace.answered(performance.now(), tools.following.head !== before)
    if (!more) await untilNextHead()
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

async function bookSpentKeysNowAndThen(tools: DriverTools): Promise<void> {
  const { seen } = tools
  if (performance.now() - seen.spentKeysAt < SPENT_KEYS_MS) return
  await bookSpentKeys(tools)
  seen.spentKeysAt = performance.now()
}
