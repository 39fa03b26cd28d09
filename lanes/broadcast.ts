import { getRaw, readOpenSends, type OpenSend } from '../db/booking.js'
import { ServiceError } from '../domain/errors.js'
import type { WatchTools } from './watch.js'

/** Bytes that are not mined are sent again this often: a node may have dropped them. */
const RESEND_MS = 10_000

/** When each hash was last sent, in this process. A new leader sends everything once. */
export type SentTimes = Map<string, number>

/**
 * Sends the newest stored bytes of every open nonce, lane by lane in nonce order. What the node answers
 * decides nothing: whether a transaction is mined is read from the blocks.
 */
export async function broadcastOpen(tools: WatchTools, sentAt: SentTimes): Promise<void> {
  const open = await readOpenSends(tools.db, tools.client.chain.chainId)
  for (const hash of sentAt.keys()) {
    if (!open.some((send) => send.hash === hash)) sentAt.delete(hash)
  }
  const newest = open.filter(
    (send, i) => open[i + 1]?.txId !== send.txId, // sends of one transaction stand together, by n
  )
  const lanes = [...new Set(newest.map(({ sender }) => sender))]
  const sendsOf = (lane: string) => newest.filter(({ sender }) => sender === lane)
  await Promise.all(lanes.map((lane) => sendInOrder(tools, sendsOf(lane), sentAt)))
}

async function sendInOrder(
  { db, client, log }: WatchTools,
  sends: OpenSend[],
  sentAt: SentTimes,
): Promise<void> {
  for (const { hash, nonce, sender } of sends) {
    if (Date.now() - (sentAt.get(hash) ?? 0) < RESEND_MS) continue
    const raw = await getRaw(db, hash)
    sentAt.set(hash, Date.now())
    try {
      await client.send('eth_sendRawTransaction', [raw])
      log.info({ chain: client.chain.name, lane: sender, nonce, hash }, 'sent')
    } catch (error) {
      const reason = error instanceof ServiceError ? error.details.reason : 'unknown'
      log.warn({ chain: client.chain.name, lane: sender, nonce, hash, reason }, 'not accepted')
    }
  }
}
