import { askChains } from '../evm/rpc/askChains.js'
import { insertYields } from '../db/yields.js'
import { readRates } from '../evm/lending/markets.js'
import type { Chains } from '../evm/connect.js'
import type { Db } from '../db/client/connect.js'

export type RecordYieldsInput = { takenAt: string }

/**
 * Stores the current rates of all markets under the given time (ISO 8601). Safe to repeat: rates already stored for
 * this time stay. A chain that does not answer is skipped until the next snapshot.
 *
 * @throws {ServiceError} UNAVAILABLE when no chain answers.
 */
export async function recordYields(
  { db, chains }: { db: Db; chains: Chains },
  { takenAt }: RecordYieldsInput,
): Promise<{ recorded: number; unavailable: string[] }> {
  const { answers, unavailable } = await askChains(chains.list, (client) => readRates(client))
  const rates = answers.flatMap((answer) => answer.rates)
  await insertYields(db, rates, new Date(takenAt))
  return { recorded: rates.length, unavailable }
}
