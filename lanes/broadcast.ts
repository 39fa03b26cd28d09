import { didAnswer } from '../chains/connect.js'
import { getRaw, readOpenSends, type OpenSend } from '../db/lanes/booking.js'
import { crashPoint } from '../crashPoints.js'
import { ServiceError } from '../domain/errors.js'
import { bookMissed } from './missed.js'
import type { DriverTools } from './driverTools.js'

/** Bytes that are not mined are sent again this often: a node may have dropped them. */
const RESEND_MS = 10_000

/**
 * Sends the newest stored bytes of every open nonce, lane by lane in nonce order. What the node answers
 * decides nothing: whether a transaction is mined is read from the blocks.
 */
export async function broadcastOpen(tools: DriverTools): Promise<void> {
  const { db, client, sentAt } = tools
  const open = await readOpenSends(db, client.chain.chainId)
  const hashes = new Set(open.map(({ hash }) => hash))
  for (const hash of sentAt.keys()) if (!hashes.has(hash)) sentAt.delete(hash)
  const newest = open.filter(
    (send, i) => open[i + 1]?.txId !== send.txId, // sends of one transaction stand together, by n
  )
  const lanes = [...new Set(newest.map(({ sender }) => sender))]
  const sendsOf = (lane: string) => newest.filter(({ sender }) => sender === lane)
  await Promise.all(lanes.map((lane) => sendInOrder(tools, sendsOf(lane))))
}

async function sendInOrder(tools: DriverTools, sends: OpenSend[]): Promise<void> {
  const { db, client, log, sentAt } = tools
  for (const send of sends) {
    const { hash, nonce, sender } = send
    const last = sentAt.get(hash)
    if (last !== undefined && Date.now() - last < RESEND_MS) continue
    if (last !== undefined && (await bookMissed(tools, send))) {
      sentAt.set(hash, Date.now())
      continue
    }
    const raw = await getRaw(db, hash)
    const facts = { chain: client.chain.name, lane: sender, nonce, hash }
    crashPoint('driver: before the broadcast')
    try {
      await client.send('eth_sendRawTransaction', [raw])
      crashPoint('driver: after the broadcast')
      log.info(facts, 'sent')
    } catch (error) {
      const reason = error instanceof ServiceError ? error.details.reason : 'unknown'
      log.warn({ ...facts, reason }, 'not accepted')
      // A higher nonce would leave a gap, which some nodes refuse. The next round begins here again.
      if (!didAnswer(error)) return
    }
    sentAt.set(hash, Date.now())
  }
}
