import { createBell } from '../bell.js'
import { connectAsLeader, isLedElsewhere } from '../db/connection/connect.js'
import { broadcastOpen } from './broadcast.js'
import { bookSpentKeys } from './missed.js'
import { watchQueue } from '../db/lanes/queue.js'
import { bookChain } from './book.js'
import { createDriverTools } from './driverTools.js'
import { pause, repeat } from './repeat.js'
import { disabledBecause, type ChainClient } from '../chains/connect.js'
import { LOOK_MS, RETRY_MS } from '../durations.js'
import type { PartLog } from '../log.js'
import type { Listener } from '../db/connection/listen.js'

/** While nothing that was sent is open, heads are asked for so many times less often. */
const QUIET_SHARE = 4
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
  const db = connectAsLeader(url, `chain/${chain.chainId}`)
  const tools = { ...createDriverTools(db, client, log), finalityMs: FINALITY_MS }
  const signed = watchQueue(listener, stopping, ['signed'])
  const sent = createBell()
  const explain = (failure: string) => (error: unknown) => {
    tools.seen.head = ''
    // What a former leader knew of its sends is old by the time it leads again.
    if (isLedElsewhere(error)) tools.sentAt.clear()
    else log.warn({ err: error, chain: chain.name }, failure)
  }
  // What another chain says of our blocks and transactions must not become what is known of them.
  const isForeign = () => disabledBecause(client, 'node') !== undefined
  const broadcastNext = async () => {
    if (isForeign()) return pause(RETRY_MS, stopping)
    const wake = signed(LOOK_MS, chain.chainId)
    await broadcastOpen(tools)
    if (tools.sentAt.size > 0) sent.ring()
    await bookSpentKeys(tools)
    await wake
  }
  const bookNext = async () => {
    if (isForeign()) return pause(RETRY_MS, stopping)
    if (await bookChain(tools)) return
    if (tools.sentAt.size > 0) await pause(chain.pollMs, stopping)
    else await sent.wait(QUIET_SHARE * chain.pollMs, stopping)
  }
  try {
    await Promise.all([
      repeat(broadcastNext, explain('broadcasting failed'), { stopping }),
      repeat(bookNext, explain('booking failed'), { stopping }),
    ])
  } finally {
    await db.destroy()
  }
}
