import { faultPoint } from '../runtime/faultPoints.js'
import { findFinalized, readSettled, type Finality } from '../evm/logs/finality.js'
import { readBlock, type Block } from '../evm/read.js'
import {
  confirmUpTo,
  finalizeUpTo,
  findChainState,
  insertChain,
  insertHeaders,
  readHeaders,
  releaseSettled,
  setIndexed,
  setTransactionsMined,
  type BlockId,
} from '../operations/indexing/indexedBlocks.js'
import { setMined } from '../operations/indexing/outcomes.js'
import { isInUse } from '../operations/indexing/watched.js'
import { lockEnded, reconsiderIntents } from '../operations/indexing/reopened.js'
import {
  matchExposed,
  readFinalizedLogs,
  readMinedUpTo,
  readBlockContents,
} from './blockOutcomes.js'
import { followEndpoint } from './endpoint.js'
import { reorganise, notifyReopened, type IndexingTools } from './reorgs.js'
import { LINKED_BLOCKS, type DriverTools } from './relayerTools.js'
import type { BlockContents } from './blockOutcomes.js'

/** While nothing is open, the finalized block is read this many times less often: every ten minutes. */
const IDLE_FINALITY_FACTOR = 120
/** Finalized blocks indexed at once after a long downtime. Only their logs are read. */
const FINALIZED_BLOCKS = 2_000n

/**
 * Indexes the blocks since the last call: outcomes of operations, confirmations, finality. It is the only source of
 * outcomes. A block and its contents are committed together.
 *
 * @returns True when more blocks may be ready to index.
 */
export async function indexChain(tools: DriverTools): Promise<boolean> {
  const through = followEndpoint(tools)
  try {
    return await indexThrough({ ...tools, through })
  } catch (error) {
    tools.following.hasFailed = true
    throw error
  }
}

async function indexThrough(tools: IndexingTools): Promise<boolean> {
  const { db, through, seen } = tools
  const head = await readBlock(through, 'latest')
  if (!head || head.hash === seen.head) return false
  const state = await findChainState(db, through.chain.chainId)
  const indexed = state?.indexed ?? (await startIndexing(tools, head))
  // Read after the head: an operation that is created later cannot be in its blocks.
  seen.isIdle = !(await isInUse(db, through.chain.chainId))
  if (seen.isIdle && head.number > indexed.number + 1n) return indexIdle(tools, indexed, head)
  const near = indexed.number + BigInt(LINKED_BLOCKS)
  if (head.number > near) {
    const { block: finalized } = await findFinality(tools, head)
    if (finalized && finalized.number > near)
      return indexFinalized(tools, indexed, finalized.number)
  }
  return indexLinked(tools, indexed, head)
}

/** Starts at the finalized block. A block that a reorg removes would have no successor. */
async function startIndexing({ db, through }: IndexingTools, head: Block): Promise<BlockId> {
  const { chainId, name } = through.chain
  const finality = await findFinalized(through, head)
  const start = finality.block ?? (await readSettled(through, head))
  if (!start) throw new Error('The first block to index is missing on the node.')
  await insertChain(db, { id: chainId, name, at: start })
  return start
}

async function findFinality({ through, seen, log }: IndexingTools, head: Block): Promise<Finality> {
  const finality = await findFinalized(through, head)
  if (finality.isAssumed && !seen.isFinalityAssumed) {
    seen.isFinalityAssumed = true
    const { name, finalityBlocks } = through.chain
    log.warn({ chain: name, finalityBlocks }, 'finalized block not reported, depth used instead')
  }
  return finality
}

/**
 * While nothing is open: the head alone, because the blocks before it hold nothing of ours. The stored headers have gaps
 * then. Each was canonical when the next one was stored, so a reorg still finds the newest that is left.
 */
async function indexIdle(tools: IndexingTools, indexed: BlockId, head: Block): Promise<boolean> {
  const { through, seen } = tools
  const known = await readBlock(through, { blockNumber: indexed.number })
  if (!known) return false
  if (known.hash !== indexed.hash) return reorganise(tools, indexed)
  const rarely = { ...tools, finalityMs: IDLE_FINALITY_FACTOR * tools.finalityMs }
  const finalized = await findFinalizedRarely(rarely, head)
  const confirmed = head.number - BigInt(through.chain.confirmations) + 1n
  await index(tools, indexed, { blocks: [head], logs: [], ours: [], confirmed, finalized })
  seen.head = head.hash
  return false
}

/** The finalized block, read once per `finalityMs` only, because it advances slowly; undefined between two reads. */
async function findFinalizedRarely(tools: IndexingTools, head: Block): Promise<Block | undefined> {
  const { seen, finalityMs } = tools
  const now = performance.now()
  if (now - seen.finalityAt < finalityMs) return undefined
  const { block } = await findFinality(tools, head)
  seen.finalityAt = now
  return block
}

/** Indexes the blocks that follow the indexed one, or rolls back blocks that the chain has dropped. */
async function indexLinked(tools: IndexingTools, indexed: BlockId, head: Block): Promise<boolean> {
  const { through, seen } = tools
  if (head.number <= indexed.number && (await isKept(tools, head))) return false
  const blocks = await readBlocks(tools, indexed.number, head)
  const [first, last] = [blocks[0], blocks.at(-1)]
  if (!last || first?.parentHash !== indexed.hash) return reorganise(tools, indexed)
  // A reorg happened between the answers, or they come from different nodes. The next call retries.
  if (blocks.some((block, i) => i > 0 && block.parentHash !== blocks[i - 1]?.hash)) return false
  const finalized = await findFinalizedRarely(tools, head)
  const confirmed = last.number - BigInt(through.chain.confirmations) + 1n
  // Operations are read after the blocks: an operation created later cannot be in them.
  const contents = await readBlockContents(tools, blocks)
  await index(tools, indexed, { blocks, ...contents, confirmed, finalized })
  seen.head = last.hash
  return last.number < head.number
}

/** True when a head at or below the indexed block is one of our blocks: the node is behind, without a reorg. */
async function isKept({ db, client }: DriverTools, head: Block): Promise<boolean> {
  const headers = await readHeaders(db, client.chain.chainId)
  return headers.some(({ hash }) => hash === head.hash)
}

async function readBlocks(
  { through }: IndexingTools,
  after: bigint,
  head: Block,
): Promise<Block[]> {
  const farthest = after + BigInt(LINKED_BLOCKS)
  const last = head.number < farthest ? head.number : farthest
  const numbers: bigint[] = []
  for (let number = after + 1n; number <= last; number++) numbers.push(number)
  const blocks = await Promise.all(
    numbers.map(async (blockNumber) =>
      blockNumber === head.number ? head : readBlock(through, { blockNumber }),
    ),
  )
  return blocks.filter((block) => block !== undefined)
}

/** After a long downtime: only the logs are read of blocks that no reorg can remove. */
async function indexFinalized(
  tools: IndexingTools,
  indexed: BlockId,
  finalized: bigint,
): Promise<boolean> {
  const { db, through } = tools
  const farthest = indexed.number + FINALIZED_BLOCKS
  const to = finalized < farthest ? finalized : farthest
  const [known, last] = await Promise.all([
    readBlock(through, { blockNumber: indexed.number }),
    readBlock(through, { blockNumber: to }),
  ])
  if (!known || !last) return false
  // The indexed block may have been removed by a reorg meanwhile. It must not become final unnoticed.
  if (known.hash !== indexed.hash) return reorganise(tools, indexed)
  const ours = await readMinedUpTo(through, db, to)
  const logs = await readFinalizedLogs(db, through, { from: indexed.number + 1n, to })
  const confirmed = to
  await index(tools, indexed, { blocks: [last], logs, ours, confirmed, finalized: last })
  return true
}

/** Contents of blocks, with the last confirmed and the last finalized block. */
type Indexing = BlockContents & { blocks: Block[]; confirmed: bigint; finalized: Block | undefined }

/** Commits blocks together with their contents. */
async function index(
  tools: IndexingTools,
  from: BlockId,
  { blocks, logs, ours, confirmed, finalized }: Indexing,
): Promise<void> {
  const { db, through, log, failureHoldSeconds } = tools
  const { chainId } = through.chain
  const to = blocks.at(-1) ?? from
  const times = new Map(blocks.map(({ hash, minedAt }) => [hash, minedAt]))
  const matched = await matchExposed({ db, client: through, log }, logs, ours)
  const mined = matched.map((one) => ({
    ...one,
    minedAt: one.minedAt ?? times.get(one.block.hash),
  }))
  const reopened = await db.transaction(async (trx) => {
    const ended = await lockEnded(trx, chainId, { mined, confirmed })
    await insertHeaders(trx, chainId, blocks)
    await confirmUpTo(trx, chainId, { block: confirmed, except: mined.map(({ id }) => id) })
    await setMined(trx, mined, confirmed)
    await setTransactionsMined(trx, ours)
    if (finalized) await finalizeUpTo(trx, chainId, finalized)
    await releaseSettled(trx, chainId, failureHoldSeconds)
    await setIndexed(trx, chainId, { from, to })
    if (mined.length > 0) faultPoint('relayer: before the indexing is committed')
    return reconsiderIntents(trx, ended)
  })
  notifyReopened(tools, reopened)
}
