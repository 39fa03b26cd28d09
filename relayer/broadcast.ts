import { didAnswer, isRefusedForGood } from '../evm/connect.js'
import { readOpenSends, type OpenSend } from '../operations/indexing/watched.js'
import { readWithheld } from '../db/pauses.js'
import { beginLeaving, cancelLeaving } from '../operations/signing/leaving.js'
import { markSent, setAnswered } from '../operations/signing/replacing.js'
import { faultPoint } from '../runtime/faultPoints.js'
import { ServiceError } from '../domain/errors.js'
import { endLost } from './lostNonces.js'
import { indexForeignExecutions } from './foreignExecutions.js'
import type { DriverTools } from './relayerTools.js'

/** A transaction that is not mined is sent again after this time, because a node may have dropped it. */
const RESEND_MS = 10_000

/** All sends of one transaction. The newest is the one to broadcast. */
type OpenTransaction = { sends: OpenSend[]; newest: OpenSend }

/**
 * Broadcasts the newest bytes of each open nonce, in nonce order per sender, unless a pause or freeze withholds them.
 * The answer of the node decides nothing: only blocks show whether a transaction is mined.
 */
export async function broadcastOpen(tools: DriverTools): Promise<void> {
  const { db, client, sentAt } = tools
  const open = await readOpenSends(db, client.chain.chainId)
  const hashes = new Set(open.map(({ hash }) => hash))
  for (const hash of sentAt.keys()) if (!hashes.has(hash)) sentAt.delete(hash)
  const senders = new Map<string, OpenTransaction[]>()
  // The rows are ordered by transaction, then by n.
  for (const [i, newest] of open.entries()) {
    if (open[i + 1]?.txId === newest.txId) continue
    const sends = open.filter(({ txId }) => txId === newest.txId)
    senders.set(newest.sender, [...(senders.get(newest.sender) ?? []), { sends, newest }])
  }
  await Promise.all([...senders.values()].map((transactions) => sendInOrder(tools, transactions)))
}

async function sendInOrder(tools: DriverTools, transactions: OpenTransaction[]): Promise<void> {
  const { sentAt } = tools
  for (const { sends, newest } of transactions) {
    const last = sentAt.get(newest.hash)
    if (last !== undefined && Date.now() - last < RESEND_MS) continue
    if (last !== undefined && (await isFinished(tools, transactions, sends))) {
      sentAt.set(newest.hash, Date.now())
      continue
    }
    const raw = await findSendable(tools, newest)
    // A higher nonce would leave a gap, which some nodes reject. The next call starts here again. Withheld bytes that a
    // node has answered leave none.
    const isDone = raw === undefined ? newest.isAnswered : await send(tools, newest, raw)
    if (!isDone) return
    sentAt.set(newest.hash, Date.now())
  }
}

/**
 * True when a transaction need not be sent again: one of its sends is mined, or none can be.
 *
 * @param transactions - All open ones of its sender, in nonce order.
 */
async function isFinished(
  tools: DriverTools,
  transactions: OpenTransaction[],
  sends: OpenSend[],
): Promise<boolean> {
  for (const one of sends) if (await indexForeignExecutions(tools, one)) return true
  const isLowest = transactions[0]?.sends === sends
  if (!isLowest) return false
  const lost = await endLost(
    tools,
    transactions.flatMap((transaction) => transaction.sends),
  )
  return sends.some(({ txId }) => lost.includes(txId))
}

/** The bytes of a send, if they may leave now: they are the newest of their nonce, and nothing withholds them. */
async function findSendable(
  { db, client }: DriverTools,
  { hash }: OpenSend,
): Promise<string | undefined> {
  const leaving = await beginLeaving(db, hash)
  if (!leaving) return undefined
  const { isPaused, operations } = await readWithheld(db, client.chain.chainId, leaving.operations)
  if (!isPaused && operations.length === 0) return leaving.raw
  if (leaving.isFirst) await cancelLeaving(db, hash)
  return undefined
}

/** True when a node has answered, with success or an error. */
async function send(tools: DriverTools, one: OpenSend, raw: string): Promise<boolean> {
  const { db, client, log, sentAt } = tools
  const { hash, nonce, sender, refusals } = one
  const facts = { chain: client.chain.name, sender, nonce, hash }
  // Before the broadcast, because its answer may be lost.
  if (!sentAt.has(hash)) await markSent(db, [hash])
  let isRefused = false
  faultPoint('relayer: before the broadcast')
  try {
    await client.send('eth_sendRawTransaction', [raw])
    faultPoint('relayer: after the broadcast')
    log.info(facts, 'transaction broadcast')
  } catch (error) {
    const reason = error instanceof ServiceError ? error.details.reason : 'unknown'
    log.warn({ ...facts, reason }, 'transaction not accepted')
    if (!didAnswer(error)) return false
    isRefused = isRefusedForGood(error)
  }
  const isFirst = !sentAt.has(hash)
  if (isFirst || isRefused || refusals > 0) await setAnswered(db, hash, isRefused)
  return true
}
