import { readReceipt } from '../chains/read.js'
import { findChainState, readHeaders } from '../db/lanes/booking.js'
import type { OpenSend } from '../db/lanes/watched.js'
import { setLost } from '../db/lanes/replacing.js'
import { followedEndpoint } from './endpoint.js'
import type { ChainClient } from '../chains/connect.js'
import type { DriverTools } from './driverTools.js'

/**
 * Ends transactions of a lane that can never be mined: in the final block the chain has used their nonces, and none
 * of their hashes is known to it. Somebody else has the lane's key, or an older database had it.
 *
 * @param sends - All of the lane's open transactions.
 * @returns The ids of the transactions that were ended.
 */
export async function endLost(tools: DriverTools, sends: OpenSend[]): Promise<bigint[]> {
  const { db, client, log } = tools
  const [{ sender } = { sender: '' }] = sends
  const through = followedEndpoint(tools)
  const used = await readFinalCount(tools, through, sender)
  const ours = sends.filter(({ nonce }) => nonce < used)
  if (ours.length === 0) return []
  const receipts = await Promise.all(ours.map(({ hash }) => readReceipt(through, hash))).catch(
    () => undefined,
  )
  // What could not be read leaves them open, and is asked again.
  if (!receipts) return []
  const mined = new Set(ours.filter((_send, i) => receipts[i]).map(({ txId }) => txId))
  const missing = new Map(ours.map(({ txId, nonce }) => [txId, nonce]))
  for (const txId of mined) missing.delete(txId)
  const lost = await setLost(db, [...missing.keys()])
  for (const txId of lost) {
    const facts = { chain: client.chain.name, lane: sender, nonce: missing.get(txId) }
    log.error(facts, 'the nonce was used by something else: who has the key of this lane?')
  }
  return lost
}

/** Transactions of an account in the final block, by its hash: an endpoint on another chain does not know it. */
async function readFinalCount(
  { db }: DriverTools,
  through: ChainClient,
  sender: string,
): Promise<bigint> {
  const { chainId } = through.chain
  const state = await findChainState(db, chainId)
  const headers = await readHeaders(db, chainId)
  const final = headers.find(({ number }) => number === state?.finalizedBlock)
  if (!final) return 0n
  const block = { blockHash: final.hash, requireCanonical: true }
  const count = through.send<string>('eth_getTransactionCount', [sender, block])
  // A node may be silent, or have pruned that state. Another one may be followed the next time.
  return BigInt(await count.catch(() => '0x0'))
}
