import { setTimeout as sleep } from 'node:timers/promises'
import { connectAsLeader, isLedElsewhere } from '../db/connection/connect.js'
import { broadcastOpen } from './broadcast.js'
import { bookForeignMints } from './missed.js'
import { watchQueue } from '../db/lanes/queue.js'
import { bookChain, type DriverTools } from './book.js'
import type { ChainClient } from '../chains/connect.js'
import type { PartLog } from '../log.js'
import type { Listener } from '../db/connection/listen.js'

/** Namespace of the advisory locks by which one process leads each chain. */
const DRIVER_LOCK = 7_702
/** How often a process that does not lead tries to, and how long it waits after a failure. */
const RETRY_MS = 1_000

/**
 * Drives one chain until the signal aborts: broadcasts what the signer stored, books what the chain
 * says. One process leads at a time; the others wait for its session to end.
 */
export async function driveChain(
  url: string,
  client: ChainClient,
  listener: Listener,
  log: PartLog,
  stopping: AbortSignal,
): Promise<void> {
  const db = connectAsLeader(url, DRIVER_LOCK, client.chain.chainId)
  const tools = { db, client, log, sentAt: new Map<string, number>(), seen: { head: '' } }
  const signed = watchQueue(listener, stopping, ['signed'])
  try {
    await Promise.all([
      repeat(tools, stopping, 'broadcasting failed', broadcaster(tools, signed)),
      repeat(tools, stopping, 'booking failed', async () => {
        const more = await bookChain(tools)
        if (!more) await pause(client.chain.pollMs, stopping)
      }),
    ])
  } finally {
    await db.destroy()
  }
}

function broadcaster(tools: DriverTools, signed: (timeoutMs: number) => Promise<void>) {
  return async () => {
    const wake = signed(RETRY_MS)
    await broadcastOpen(tools)
    await bookForeignMints(tools)
    await wake
  }
}

async function repeat(
  { client, log, sentAt, seen }: DriverTools,
  stopping: AbortSignal,
  failure: string,
  round: () => Promise<void>,
): Promise<void> {
  while (!stopping.aborted) {
    try {
      await round()
    } catch (error) {
      if (stopping.aborted) return
      seen.head = ''
      // What a former leader knew of its sends is old by the time it leads again.
      if (isLedElsewhere(error)) sentAt.clear()
      else log.warn({ err: error, chain: client.chain.name }, failure)
      await pause(RETRY_MS, stopping)
    }
  }
}

async function pause(ms: number, stopping: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
}
