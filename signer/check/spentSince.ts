import { findBurn } from '../../operations/burns.js'
import { findFunding } from '../../db/intents/fundings.js'
import { findIntentCreation } from '../../db/intents/intents.js'
import { ServiceError } from '../../domain/errors.js'
import { operationId } from '../../operations/operationId.js'
import { CLOCKS_APART_MS } from '../../runtime/durations.js'
import type { ChainClient } from '../../evm/connect.js'
import type { Db } from '../../db/client/connect.js'
import type { Operation } from '../../operations/operations.js'

/**
 * The lowest block that may hold the log of a spent key. The row may be younger than that log, after a restored
 * backup, but the intent is not: nothing of an intent is executed before its creation.
 *
 * @throws {ServiceError} RPC_ERROR.
 */
export async function readSpentSince(
  db: Db,
  client: ChainClient,
  { kind, intentId, sequence, spentSince }: Operation,
): Promise<bigint> {
  if (spentSince !== null) return spentSince
  if (kind === 'mint') {
    const burn = await findBurn(db, operationId(intentId, sequence, 'bridge'))
    return burn?.destinationBlock ?? 0n
  }
  const order = kind === 'fund' ? findFunding(db, intentId) : findIntentCreation(db, intentId)
  const createdAt = (await order)?.createdAt.getTime() ?? 0
  return findBlockAt(client, Math.floor((createdAt - CLOCKS_APART_MS) / 1000))
}

/** The first block at or after a time in Unix seconds, by binary search. */
async function findBlockAt(client: ChainClient, seconds: number): Promise<bigint> {
  let [low, high] = [0n, (await readTime(client, 'latest')).number]
  while (low < high) {
    const middle = (low + high) / 2n
    const { time } = await readTime(client, `0x${middle.toString(16)}`)
    if (time < seconds) low = middle + 1n
    else high = middle
  }
  return low
}

async function readTime(client: ChainClient, block: string) {
  const raw = await client.send<{ number: string; timestamp: string } | null>(
    'eth_getBlockByNumber',
    [block, false],
  )
  if (!raw) throw new ServiceError('RPC_ERROR', `${client.chain.name} is missing block ${block}.`)
  return { number: BigInt(raw.number), time: Number(raw.timestamp) }
}
