import { didAnswer, type ChainClient } from './connect.js'
import { readBlock, type Block } from './read.js'

/** Refusals in a row after which a node is believed to have no tag `finalized`: one may be a mishap. */
const REFUSALS = 3

/** How often in a row a node had no finalized block. */
const refusals = new WeakMap<ChainClient, number>()

/** `isAssumed`: the node does not know the tag, the block is as deep as finality usually is. */
export type Finality = { block: Block | undefined; isAssumed: boolean }

/**
 * The newest finalized block as the node tells, or for a node that cannot, the one `finalityBlocks` below
 * its head. Undefined while it is not certain that it cannot, and when it does not have the block.
 */
export async function findFinalized(client: ChainClient, head: Block): Promise<Finality> {
  const told = await readTagged(client)
  if (told) {
    refusals.delete(client)
    return { block: told, isAssumed: false }
  }
  const count = (refusals.get(client) ?? 0) + 1
  refusals.set(client, count)
  if (count < REFUSALS) return { block: undefined, isAssumed: false }
  return { block: await readSettled(client, head), isAssumed: true }
}

/** The block as deep below the head as finality usually is; the first one of a shorter chain. */
export async function readSettled(client: ChainClient, head: Block): Promise<Block | undefined> {
  const depth = BigInt(client.chain.finalityBlocks)
  return readBlock(client, { blockNumber: head.number > depth ? head.number - depth : 0n })
}

/** Nodes without the tag answer null or an error, in many words. */
async function readTagged(client: ChainClient): Promise<Block | undefined> {
  try {
    return await readBlock(client, 'finalized')
  } catch (error) {
    if (didAnswer(error)) return undefined
    throw error
  }
}
