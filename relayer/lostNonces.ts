import { readReceipt } from '../evm/read.js'
import { findChainState, readHeaders } from '../operations/indexing/indexedBlocks.js'
import type { OpenSend } from '../operations/indexing/watched.js'
import { setLost } from '../operations/signing/replacing.js'
import { followedEndpoint } from './endpoint.js'
import type { ChainClient } from '../evm/connect.js'
import type { DriverTools } from './relayerTools.js'

/**
 * Ends transactions that can never be mined: at the finalized block the chain has used their nonces, and knows none of
 * their hashes. Another party has the sender's key, or an older database used the nonces.
 *
 * @param sends - All open sends of the sender.
 * @returns The ids of the ended transactions.
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
  // After a failed read they stay open. The next call retries.
  if (!receipts) return []
  const mined = new Set(ours.filter((_send, i) => receipts[i]).map(({ txId }) => txId))
  const missing = new Map(ours.map(({ txId, nonce }) => [txId, nonce]))
  for (const txId of mined) missing.delete(txId)
  const lost = await setLost(db, [...missing.keys()])
  for (const txId of lost) {
    const facts = { chain: client.chain.name, sender, nonce: missing.get(txId) }
    log.error(facts, 'nonce used by a foreign transaction: check who holds the key of this sender')
  }
  return lost
}

/** Transaction count of an account at the finalized block, read by hash: on another chain that block is unknown. */
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
  // The node may be silent, or have pruned that state. The next call may read from another one.
  return BigInt(await count.catch(() => '0x0'))
}
