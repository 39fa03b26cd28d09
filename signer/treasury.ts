import { readBalance } from '../chains/read.js'
import { findChainState } from '../db/lanes/booking.js'
import { lockTreasury, readSignedFundings } from '../db/lanes/treasury.js'
import { ServiceError } from '../domain/errors.js'
import { demoFunding } from '../domain/funding.js'
import type { Db } from '../db/connection/connect.js'
import type { Round } from './round.js'

/** What the treasury holds in a block of which everything is booked, in base units of USDC. */
export type TreasuryFunds = { block: bigint; units: bigint }

/**
 * Reads the treasury's balance at the booked block: at any other one a funding that has just been mined would
 * count twice or not at all.
 *
 * @throws {ServiceError} RPC_ERROR, also while nothing of the chain is booked.
 */
export async function readTreasuryFunds(
  db: Db,
  { client }: Pick<Round, 'client'>,
  owner: string,
): Promise<TreasuryFunds> {
  const { chainId, name, usdc } = client.chain
  const state = await findChainState(db, chainId)
  if (!state) throw new ServiceError('RPC_ERROR', `Nothing of ${name} is booked yet.`)
  const { number: block, hash: blockHash } = state.booked
  const units = await readBalance(client, { token: usdc.address, owner, block: { blockHash } })
  return { block, units }
}

/** Why the treasury cannot pay so many more fundings, beside all that are signed; undefined when it can. */
export async function findShortage(
  db: Db,
  chainId: number,
  { block, units, count = 1 }: TreasuryFunds & { count?: number },
): Promise<string | undefined> {
  const signed = await readSignedFundings(db, { chainId, block })
  if (units - signed >= BigInt(count) * demoFunding.units) return undefined
  return 'the treasury cannot pay: its money is spoken for by other fundings.'
}

/**
 * Decides in the transaction that signs fundings that the treasury can pay all of them, beside those of others,
 * one after the other.
 *
 * @throws {ServiceError} FUNDING_FAILED when it cannot.
 */
export async function assertFunded(
  trx: Db,
  chainId: number,
  fundings: { funds: TreasuryFunds }[],
): Promise<void> {
  const [newest] = fundings.map(({ funds }) => funds).sort((a, b) => (a.block < b.block ? 1 : -1))
  if (!newest) return
  await lockTreasury(trx, chainId)
  const shortage = await findShortage(trx, chainId, { ...newest, count: fundings.length })
  if (shortage) throw new ServiceError('FUNDING_FAILED', `The call would fail: ${shortage}`)
}
