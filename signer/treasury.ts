import { readBalance } from '../chains/read.js'
import { findChainState } from '../db/lanes/booking.js'
import { lockTreasury, readSignedFundings } from '../db/lanes/treasury.js'
import { ServiceError } from '../domain/errors.js'
import { demoFunding } from '../domain/funding.js'
import type { ChainClient } from '../chains/connect.js'
import type { Db } from '../db/connection/connect.js'

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
  client: ChainClient,
  owner: string,
): Promise<TreasuryFunds> {
  const { chainId, name, usdc } = client.chain
  const state = await findChainState(db, chainId)
  if (!state) throw new ServiceError('RPC_ERROR', `Nothing of ${name} is booked yet.`)
  const { number: block, hash: blockHash } = state.booked
  const units = await readBalance(client, { token: usdc.address, owner, block: { blockHash } })
  return { block, units }
}

/** Why the treasury cannot pay one more funding, beside all that are signed; undefined when it can. */
export async function findShortage(
  db: Db,
  chainId: number,
  { block, units }: TreasuryFunds,
): Promise<string | undefined> {
  const signed = await readSignedFundings(db, { chainId, block })
  if (units - signed >= demoFunding.units) return undefined
  return 'the treasury cannot pay: its money is spoken for by other fundings.'
}

/**
 * Decides in the transaction that signs a funding that the treasury can pay it, one funding of a chain after
 * the other.
 *
 * @throws {ServiceError} FUNDING_FAILED when it cannot.
 */
export async function assertFunded(trx: Db, chainId: number, funds: TreasuryFunds): Promise<void> {
  await lockTreasury(trx, chainId)
  const shortage = await findShortage(trx, chainId, funds)
  if (shortage) throw new ServiceError('FUNDING_FAILED', `The call would fail: ${shortage}`)
}
