import { createNotifier } from '../runtime/notifier.js'
import { connectAsLeader, isLedElsewhere } from '../db/client/connect.js'
import { broadcastOpen } from './broadcast.js'
import { indexSpentKeys } from './foreignExecutions.js'
import { watchQueue } from '../operations/queue.js'
import { indexChain } from './indexChain.js'
import { createDriverTools } from './relayerTools.js'
import { delay, repeat } from './repeat.js'
import { disabledBecause, type ChainClient } from '../evm/connect.js'
import { MAX_NOTIFY_WAIT_MS, RETRY_MS } from '../runtime/durations.js'
import type { PartLog } from '../runtime/log.js'
import { INDEX_WANTED, type Listener } from '../db/client/listen.js'

/** The chain head is polled this many times less often while operations are open, but no sent transaction. */
const QUIET_POLL_FACTOR = 4
/** Finality advances in steps of seconds, and its consumers wait for minutes. */
const FINALITY_MS = 5_000

const wakingStates: string[] = ['queued', INDEX_WANTED]

/** `url`: the database without a pooler in between. `failureHoldSeconds`: as in `DriverTools`. */
export type Driving = {
  url: string
  client: ChainClient
  listener: Listener
  log: PartLog
  failureHoldSeconds?: number
}

/**
 * Drives one chain until the signal aborts: broadcasts stored transactions and indexes blocks. One process leads at a
 * time. The others wait until its session ends.
 */
export async function driveChain(
  { url, client, listener, log, ...hold }: Driving,
  stopping: AbortSignal,
): Promise<void> {
  const { chain } = client
  const db = connectAsLeader(url, `chain/${chain.chainId}`)
  const tools = { ...createDriverTools(db, client, log), finalityMs: FINALITY_MS, ...hold }
  const signed = watchQueue(listener, stopping, ['signed'])
  const news = createNotifier()
  // An idle chain is indexed at once for a new operation, and for a plan that waits for its newest blocks.
  const unsubscribe = listener.subscribe((change) => {
    const isOurs = change?.chainId === undefined || change.chainId === chain.chainId
    if (!change || (isOurs && wakingStates.includes(change.state))) news.notify()
  })
  const logAs = (failure: string) => (error: unknown) => {
    tools.seen.head = ''
    // A process that lost the lead has outdated knowledge of the sends.
    if (isLedElsewhere(error)) tools.sentAt.clear()
    else log.warn({ err: error, chain: chain.name }, failure)
  }
  // The state of another chain must not overwrite the state of ours.
  const isForeign = () => disabledBecause(client, 'node') !== undefined
  const broadcastNext = async () => {
    if (isForeign()) return delay(RETRY_MS, stopping)
    const wake = signed(MAX_NOTIFY_WAIT_MS, chain.chainId)
    await broadcastOpen(tools)
    if (tools.sentAt.size > 0) news.notify()
    await indexSpentKeys(tools)
    await wake
  }
  const indexNext = async () => {
    if (isForeign()) return delay(RETRY_MS, stopping)
    if (await indexChain(tools)) return
    if (tools.sentAt.size > 0) await delay(chain.pollMs, stopping)
    else
      await news.wait(
        tools.seen.isIdle ? chain.idlePollMs : QUIET_POLL_FACTOR * chain.pollMs,
        stopping,
      )
  }
  try {
    await Promise.all([
      repeat(broadcastNext, logAs('broadcasting failed'), { stopping }),
      repeat(indexNext, logAs('indexing failed'), { stopping }),
    ])
  } finally {
    unsubscribe()
    await db.destroy()
  }
}
