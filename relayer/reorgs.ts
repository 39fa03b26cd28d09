import { readBlock } from '../evm/read.js'
import { readHeaders, type BlockId } from '../operations/indexing/indexedBlocks.js'
import { rollBack } from '../operations/indexing/rollBack.js'
import { LINKED_BLOCKS, type DriverTools } from './relayerTools.js'
import type { ChainClient } from '../evm/connect.js'

/** `through`: the one endpoint that a round reads from. */
export type IndexingTools = DriverTools & { through: ChainClient }

/** An error, because callers have already received a different final status and the operator may have to explain it. */
export function notifyReopened({ through, log }: IndexingTools, intents: string[]): void {
  if (intents.length === 0) return
  log.error({ chain: through.chain.name, intents }, 'final status of intents reverted by a reorg')
}

/**
 * Finds the newest canonical block and rolls back everything indexed above it. If another endpoint in step still has
 * the indexed block, indexing switches to that endpoint instead.
 *
 * @throws when a finalized block is missing: indexing stops until an operator acts.
 */
export async function reorganise(tools: IndexingTools, indexed: BlockId): Promise<boolean> {
  const { db, through, following, log, seen, sentAt } = tools
  const { chainId, name } = through.chain
  const agreeing = await findAgreeing(tools, indexed)
  if (agreeing) {
    following.endpoint = agreeing
    return false
  }
  const headers = await readHeaders(db, chainId)
  const to = await findCanonical(through, headers)
  if (to?.hash === indexed.hash) return false
  if (!to) {
    log.error({ chain: name }, 'finalized block missing, indexing stopped')
    throw new Error('A finalized block is missing on the node. Check the RPC endpoint.')
  }
  const { operations, reopened } = await db.transaction((trx) =>
    rollBack(trx, chainId, { from: indexed, to }),
  )
  seen.head = ''
  // Transactions of removed blocks are broadcast again at once.
  sentAt.clear()
  const facts = { chain: name, depth: Number(indexed.number - to.number) }
  log.warn({ ...facts, operations: operations.length }, 'reorg rolled back')
  notifyReopened(tools, reopened)
  return true
}

/** Another endpoint in step that has the indexed block. */
async function findAgreeing(
  { client, through }: IndexingTools,
  { number: blockNumber, hash }: BlockId,
): Promise<ChainClient | undefined> {
  for (const endpoint of client.inStep()) {
    if (endpoint === through) continue
    const block = await readBlock(endpoint, { blockNumber }).catch(() => undefined)
    if (block?.hash === hash) return endpoint
  }
  return undefined
}

/** The newest of our blocks, given newest first, that is in the endpoint's chain. */
async function findCanonical(
  through: ChainClient,
  headers: BlockId[],
): Promise<BlockId | undefined> {
  for (let i = 0; i < headers.length; i += LINKED_BLOCKS) {
    const part = headers.slice(i, i + LINKED_BLOCKS)
    const blocks = await Promise.all(
      part.map(({ number }) => readBlock(through, { blockNumber: number })),
    )
    const found = part.find(({ hash }, at) => blocks[at]?.hash === hash)
    if (found) return found
  }
  return undefined
}
