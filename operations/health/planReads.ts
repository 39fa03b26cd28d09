import { toQuantity } from 'ethers'
import { askTwice } from '../../evm/rpc/askTwice.js'
import { didAnswer, type ChainClient } from '../../evm/connect.js'
import { readBlock, readLogs, type Block } from '../../evm/read.js'
import { ENTRY_POINT_ADDRESS } from '../../evm/registry.js'
import { failed, ok, warning, type CheckResult } from './look.js'
import type { Capability } from '../../domain/capability.js'

/** Calls of a large plan in one request. */
const BATCH_CALLS = 100
/** A hash without a block. */
const UNKNOWN_HASH = `0x${'00'.repeat(31)}01`

/**
 * Checks at each endpoint what every plan and the indexer need: reads and logs by block hash, the tag `finalized`, and
 * requests with many calls. For the doctor only, because it sends more than a hundred calls.
 */
export async function checkPlanReads(client: ChainClient): Promise<CheckResult[]> {
  const { endpoints } = client
  const capability: Capability = endpoints.length > 1 ? 'endpoint' : 'chain'
  const rows = await Promise.all(
    endpoints.map(async (endpoint, i) => {
      const checks = [checkHashes, checkLogs, checkFinalized, checkBatch]
      const found = await Promise.all(checks.map((check) => check(endpoint)))
      return found.map((row) => ({ ...row, capability, check: `endpoint ${i + 1} ${row.check}` }))
    }),
  )
  return rows.flat()
}

/** EIP-1898. A node that ignores the hash returns a balance also for a block that does not exist. */
async function checkHashes(client: ChainClient): Promise<CheckResult> {
  const check = 'block hashes'
  const isRead = await proves(async () => {
    const { hash } = await readHead(client)
    const at = { blockHash: hash, requireCanonical: true }
    const call = { to: ENTRY_POINT_ADDRESS, data: '0x' }
    await client.send('eth_getBalance', [ENTRY_POINT_ADDRESS, at])
    // The EntryPoint accepts a call without data, as a deposit.
    await client.send('eth_call', [call, at])
    return true
  })
  if (isRead === undefined) return silent(check)
  if (!isRead) return failed(check, 'chain', 'the node cannot read at the hash of a block')
  const unknown = [ENTRY_POINT_ADDRESS, { blockHash: UNKNOWN_HASH, requireCanonical: true }]
  const isIgnored = await proves(() => client.send('eth_getBalance', unknown).then(() => true))
  if (isIgnored) return failed(check, 'chain', 'the node ignores the hash of a block')
  return ok(check, 'chain', 'eth_call and eth_getBalance read at the hash of a block')
}

async function checkLogs(client: ChainClient): Promise<CheckResult> {
  const check = 'logs by hash'
  const isRead = await proves(async () => {
    const { hash: blockHash } = await readHead(client)
    const filter = { emitters: [ENTRY_POINT_ADDRESS], topics: [] }
    return Array.isArray(await readLogs(client, { blockHash }, filter))
  })
  if (isRead === undefined) return silent(check)
  if (isRead) return ok(check, 'chain', 'eth_getLogs reads by the hash of a block')
  return failed(check, 'chain', 'eth_getLogs does not read by the hash of a block')
}

/** Without the tag the service uses a depth. */
async function checkFinalized(client: ChainClient): Promise<CheckResult> {
  const check = 'finalized block'
  const { finalityBlocks } = client.chain
  const isRead = await proves(async () => (await readBlock(client, 'finalized')) !== undefined)
  if (isRead === undefined) return silent(check)
  if (isRead) return ok(check, 'chain', 'the node reports it')
  return warning(check, 'chain', `is not reported, ${finalityBlocks} blocks of depth are used`)
}

async function checkBatch(client: ChainClient): Promise<CheckResult> {
  const check = 'batch size'
  const number = toQuantity(client.chain.chainId)
  const all = Array.from({ length: BATCH_CALLS }, () => client.send<string>('eth_chainId', []))
  const answers = await Promise.allSettled(all)
  const isComplete = answers.every((one) => one.status === 'fulfilled' && one.value === number)
  const most = client.mostCalls()
  if (!isComplete) return warning(check, 'chain', `${BATCH_CALLS} calls were answered in part`)
  if (most >= BATCH_CALLS) return ok(check, 'chain', `${BATCH_CALLS} calls are accepted at once`)
  return warning(check, 'chain', `only ${most} calls are accepted in one request`)
}

async function readHead(client: ChainClient): Promise<Block> {
  const head = await readBlock(client, 'latest')
  if (!head) throw new Error('The node has no newest block.')
  return head
}

/** False when the node answers with an error, twice: its parts may differ by a block. Undefined: it is silent. */
async function proves(ask: () => Promise<boolean>): Promise<boolean | undefined> {
  try {
    return await askTwice(ask, didAnswer)
  } catch (error) {
    return didAnswer(error) ? false : undefined
  }
}

const silent = (check: string) => warning(check, 'chain', 'the node did not answer')
