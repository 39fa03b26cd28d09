import { didAnswer, isRefusedForGood } from '../chains/connect.js'
import { readOpenSends, type OpenSend } from '../db/lanes/watched.js'
import { getRaw, setAnswered } from '../db/lanes/replacing.js'
import { crashPoint } from '../crashPoints.js'
import { ServiceError } from '../domain/errors.js'
import { endLost } from './lost.js'
import { bookMissed } from './missed.js'
import type { DriverTools } from './driverTools.js'

/** Bytes that are not mined are sent again this often: a node may have dropped them. */
const RESEND_MS = 10_000

/** All sends of one transaction, of which the newest is the one to send. */
type OpenTransaction = { sends: OpenSend[]; newest: OpenSend }

/**
 * Sends the newest stored bytes of every open nonce, lane by lane in nonce order. What the node answers
 * decides nothing: whether a transaction is mined is read from the blocks.
 */
export async function broadcastOpen(tools: DriverTools): Promise<void> {
  const { db, client, sentAt } = tools
  const open = await readOpenSends(db, client.chain.chainId)
  const hashes = new Set(open.map(({ hash }) => hash))
  for (const hash of sentAt.keys()) if (!hashes.has(hash)) sentAt.delete(hash)
  const lanes = new Map<string, OpenTransaction[]>()
  // Sends of one transaction stand together, by n.
  for (const [i, newest] of open.entries()) {
    if (open[i + 1]?.txId === newest.txId) continue
    const sends = open.filter(({ txId }) => txId === newest.txId)
    lanes.set(newest.sender, [...(lanes.get(newest.sender) ?? []), { sends, newest }])
  }
  await Promise.all([...lanes.values()].map((transactions) => sendInOrder(tools, transactions)))
}

async function sendInOrder(tools: DriverTools, transactions: OpenTransaction[]): Promise<void> {
  const { sentAt } = tools
  for (const { sends, newest } of transactions) {
    const last = sentAt.get(newest.hash)
    if (last !== undefined && Date.now() - last < RESEND_MS) continue
    if (last !== undefined && (await isOver(tools, transactions, sends))) {
      sentAt.set(newest.hash, Date.now())
      continue
    }
    // A higher nonce would leave a gap, which some nodes refuse. The next round begins here again.
    if (!(await send(tools, newest))) return
    sentAt.set(newest.hash, Date.now())
  }
}

/** True when there is no use in sending a transaction again: it is mined by one of its sends, or never will be. */
async function isOver(
  tools: DriverTools,
  lane: OpenTransaction[],
  sends: OpenSend[],
): Promise<boolean> {
  for (const one of sends) if (await bookMissed(tools, one)) return true
  const isLowest = lane[0]?.sends === sends
  if (!isLowest) return false
  const lost = await endLost(
    tools,
    lane.flatMap((transaction) => transaction.sends),
  )
  return sends.some(({ txId }) => lost.includes(txId))
}

/** True when a node has answered, whatever it said. */
async function send(tools: DriverTools, { hash, nonce, sender, refusals }: OpenSend) {
  const { db, client, log, sentAt } = tools
  const facts = { chain: client.chain.name, lane: sender, nonce, hash }
  const raw = await getRaw(db, hash)
  let isRefused = false
  crashPoint('driver: before the broadcast')
  try {
    await client.send('eth_sendRawTransaction', [raw])
    crashPoint('driver: after the broadcast')
    log.info(facts, 'sent')
  } catch (error) {
    const reason = error instanceof ServiceError ? error.details.reason : 'unknown'
    log.warn({ ...facts, reason }, 'not accepted')
    if (!didAnswer(error)) return false
    isRefused = isRefusedForGood(error)
  }
  const isFirst = !sentAt.has(hash)
  if (isFirst || isRefused || refusals > 0) await setAnswered(db, hash, isRefused)
  return true
}
