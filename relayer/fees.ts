import { setPairFees } from '../db/bridgeFees.js'
import type { Chains } from '../evm/connect.js'
import type { Db } from '../db/client/connect.js'
import type { Attestations } from '../evm/bridges/bridge.js'

/**
 * Requests the bridge's fees between all pairs of chains, sequentially, and stores them. A pair that fails keeps its
 * stored fees and delays no other pair.
 *
 * @returns The errors of failed pairs; empty when all are stored.
 */
export async function storeFees(
  db: Db,
  { readFees, bridge: { protocol } }: Attestations,
  { list }: Chains,
): Promise<unknown[]> {
  const chains = list.map(({ chain }) => chain)
  const failures: unknown[] = []
  for (const from of chains) {
    for (const to of chains.filter((one) => one !== from)) {
      try {
        const { fast = null, standard = null } = await readFees(from, to)
        const pair = { protocol, from: from.name, to: to.name }
        await setPairFees(db, { ...pair, fastMillionths: fast, standardMillionths: standard })
      } catch (error) {
        failures.push(error)
      }
    }
  }
  return failures
}
