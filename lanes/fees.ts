import { setPairFees } from '../db/bridgeFees.js'
import type { Chains } from '../chains/connect.js'
import type { Db } from '../db/connection/connect.js'
import type { Attestations } from '../protocols/bridges/bridge.js'

/**
 * Asks what the bridge costs from each chain to each other one, one after the other, and stores it. A pair of
 * which nothing is said now keeps what is known of it, and holds up no other.
 *
 * @returns What pairs failed with, nothing when all are stored.
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
