import { didAnswer, type ChainClient } from '../connect.js'
import { readBlock, type Block } from '../read.js'

/** Failed reads in a row after which a node counts as having no tag `finalized`. */
const REFUSALS = 3

/** Failed reads in a row, by node. */
const refusals = new WeakMap<ChainClient, number>()

/** `isAssumed`: the node has no tag `finalized`, so the block is taken at the usual depth. */
export type Finality = { block: Block | undefined; isAssumed: boolean }

/**
 * The newest finalized block of the node. For a node without the tag it is the block `finalityBlocks` below the head.
 * Undefined until three reads have failed, and when the node does not have the block.
 */
export async function findFinalized(client: ChainClient, head: Block): Promise<Finality> {
  const finalized = await readTagged(client)
  if (finalized) {
    refusals.delete(client)
    return { block: finalized, isAssumed: false }
  }
  const count = (refusals.get(client) ?? 0) + 1
  refusals.set(client, count)
  if (count < REFUSALS) return { block: undefined, isAssumed: false }
  return { block: await readSettled(client, head), isAssumed: true }
}

/** The block at the usual finality depth below the head; the first block of a shorter chain. */
export async function readSettled(client: ChainClient, head: Block): Promise<Block | undefined> {
  const depth = BigInt(client.chain.finalityBlocks)
  return readBlock(client, { blockNumber: head.number > depth ? head.number - depth : 0n })
}

/** Nodes without the tag return null or an error, with different messages. */
async function readTagged(client: ChainClient): Promise<Block | undefined> {
  try {
    return await readBlock(client, 'finalized')
  } catch (error) {
    if (didAnswer(error)) return undefined
    throw error
  }
}
