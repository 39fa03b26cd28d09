import { setTimeout as sleep } from 'node:timers/promises'
import { isLedElsewhere, type Db } from '../db/client/connect.js'
import { findChainState } from '../operations/indexing/indexedBlocks.js'
import {
  findRechecked,
  pauseContradicted,
  sampleFinalResults,
  setRechecked,
  type FinalResult,
} from '../operations/finalResults.js'
import { findFinalized } from '../evm/logs/finality.js'
import { isOutcomeOf, readMoved, readOutcome } from '../evm/logs/outcomes.js'
import { readBlock, readReceipt, type Receipt } from '../evm/read.js'
import type { ChainClient, Chains } from '../evm/connect.js'
import type { Chain } from '../evm/registry.js'
import type { PartLog } from '../runtime/log.js'

/** Results that are read again per chain and minute. */
const SAMPLE = 5
/** Pause before a contradiction is read again: an address may lead to several nodes. */
const AGAIN_MS = 5_000

/** `againMs`: another pause than `AGAIN_MS`, for tests. */
export type RecheckTools = { db: Db; log: PartLog; againMs?: number }

/**
 * Reads a sample of the final results of each chain again, from endpoints that the relayer does not prefer. A
 * contradiction pauses the chain. Chains with one endpoint are left out.
 */
export async function recheckResults(tools: RecheckTools & { chains: Chains }): Promise<void> {
  const { chains, log } = tools
  for (const client of chains.list.filter(({ endpoints }) => endpoints.length > 1)) {
    await recheckChain(tools, client).catch((error: unknown) => {
      if (isLedElsewhere(error)) throw error
      log.warn({ err: error, chain: client.chain.name }, 'results not rechecked')
    })
  }
}

/** Rechecks a sample of the results that became final since the last time, at the first endpoint that answers. */
export async function recheckChain(tools: RecheckTools, client: ChainClient): Promise<void> {
  const { db } = tools
  const { chainId } = client.chain
  const state = await findChainState(db, chainId)
  if (!state) return
  const after = await findRechecked(db, chainId)
  if (after === undefined) return setRechecked(db, chainId, state.finalizedBlock)
  // An idle chain costs no call.
  const stored = { after, upTo: state.finalizedBlock, count: SAMPLE }
  if ((await sampleFinalResults(db, chainId, stored)).length === 0) return
  const found = await findOther(client)
  if (!found) return
  const { endpoint, finalBlock } = found
  const upTo = finalBlock < state.finalizedBlock ? finalBlock : state.finalizedBlock
  for (const result of await sampleFinalResults(db, chainId, { ...stored, upTo })) {
    await recheck(tools, endpoint, result)
  }
  if (upTo > after) await setRechecked(db, chainId, upTo)
}

/** An endpoint other than the preferred one, and its final height. Undefined when none answers. */
async function findOther({ endpoints }: ChainClient) {
  for (const endpoint of endpoints.slice(1)) {
    const block = await readFinal(endpoint).catch(() => undefined)
    if (block) return { endpoint, finalBlock: block.number }
  }
  return undefined
}

async function readFinal(endpoint: ChainClient) {
  const head = await readBlock(endpoint, 'latest')
  return head && (await findFinalized(endpoint, head)).block
}

async function recheck(
  { db, log, againMs = AGAIN_MS }: RecheckTools,
  endpoint: ChainClient,
  result: FinalResult,
): Promise<void> {
  if (!(await contradictionOf(endpoint, result))) return
  await sleep(againMs)
  const contradiction = await contradictionOf(endpoint, result)
  if (!contradiction) return
  const { name: chain, chainId } = endpoint.chain
  const { id: operation, intentId, txHash, blockNumber } = result
  const why = `Another endpoint contradicts operation ${operation} of ${intentId}: ${contradiction}.`
  const isNew = await pauseContradicted(db, chainId, why)
  const facts = { chain, operation, intentId, txHash, block: blockNumber.toString(), contradiction }
  log.error(facts, isNew ? 'result contradicted, chain paused' : 'result contradicted')
}

/** How an endpoint contradicts a result, as a clause. Undefined when it agrees, or cannot serve the block. */
async function contradictionOf(
  endpoint: ChainClient,
  result: FinalResult,
): Promise<string | undefined> {
  const receipt = await readReceipt(endpoint, result.txHash)
  if (receipt?.blockHash === result.blockHash) {
    return isTheSame(endpoint.chain, receipt, result) ? undefined : 'its log states another result'
  }
  const block = await readBlock(endpoint, { blockNumber: result.blockNumber })
  if (!block) return undefined
  if (block.hash !== result.blockHash) return `block ${result.blockNumber} is another one`
  // A node may index its transactions late.
  return block.transactions.includes(result.txHash)
    ? undefined
    : 'its block has no such transaction'
}

function isTheSame(chain: Chain, { logs }: Receipt, result: FinalResult): boolean {
  const own = logs.find(({ logIndex }) => logIndex === result.logIndex)
  const outcome = own && readOutcome(chain, own)
  if (!own || !outcome || !isOutcomeOf(outcome, result)) return false
  if (outcome.success !== result.success) return false
  if (!result.success || result.units === null) return true
  return readMoved(chain, result, { own, all: logs }).units === BigInt(result.units)
}
