import { readLogRange } from '../../evm/logs/logRange.js'
import { readBlock, type EventLog } from '../../evm/read.js'
import {
  isOutcomeOf,
  outcomeFiltersOf,
  readOutcome,
  type Expected,
} from '../../evm/logs/outcomes.js'
import type { ChainClient } from '../../evm/connect.js'
import type { Chain } from '../../evm/registry.js'

/** Blocks per request of the search. */
const SEARCHED_BLOCKS = 2_000n

/**
 * Searches the outcome log of an operation whose key is spent, from the newest block downwards.
 */
export async function findOutcomeLog(
  client: ChainClient,
  operation: Expected,
): Promise<EventLog | undefined> {
  const head = await readBlock(client, 'latest')
  const filters = outcomeFiltersOf(client.chain, [operation])
  for (let to = head?.number ?? -1n; to >= 0n; to -= SEARCHED_BLOCKS) {
    const from = to < SEARCHED_BLOCKS ? 0n : to - SEARCHED_BLOCKS + 1n
    for (const filter of filters) {
      const logs = await readLogRange(client, { from, to }, filter)
      const found = logs.find((log) => isLogOf(client.chain, operation, log))
      if (found) return found
    }
  }
  return undefined
}

/** Whether the log is the outcome of this operation. */
export function isLogOf(chain: Chain, operation: Expected, log: EventLog): boolean {
  const outcome = readOutcome(chain, log)
  return outcome !== undefined && isOutcomeOf(outcome, operation)
}
