import { readBalance } from '../../evm/read.js'
import { findChainState } from '../../operations/indexing/indexedBlocks.js'
import { lockTreasury, readSignedFundings } from '../../operations/signing/treasury.js'
import { ServiceError } from '../../domain/errors.js'
import { demoFunding } from '../../domain/intent/funding.js'
import type { Db } from '../../db/client/connect.js'
import type { SigningContext } from '../signingContext.js'

/** The treasury's balance at the indexed block, in base units of USDC. */
export type TreasuryFunds = { block: bigint; units: bigint }

/**
 * Reads the treasury's balance at the indexed block. At any other block a funding that was just mined would count
 * twice or not at all.
 *
 * @throws {ServiceError} RPC_ERROR, also while no block of the chain is indexed.
 */
export async function readTreasuryFunds(
  db: Db,
  { client }: Pick<SigningContext, 'client'>,
  owner: string,
): Promise<TreasuryFunds> {
  const { chainId, name, usdc } = client.chain
  const state = await findChainState(db, chainId)
  if (!state) throw new ServiceError('RPC_ERROR', `No block of ${name} is indexed yet.`)
  const { number: block, hash: blockHash } = state.indexed
  const units = await readBalance(client, { token: usdc.address, owner, block: { blockHash } })
  return { block, units }
}

/** Why the treasury cannot pay `count` more fundings on top of the signed ones; undefined when it can. */
export async function findShortage(
  db: Db,
  chainId: number,
  { block, units, count = 1 }: TreasuryFunds & { count?: number },
): Promise<string | undefined> {
  const signed = await readSignedFundings(db, { chainId, block })
  if (units - signed >= BigInt(count) * demoFunding.units) return undefined
  return 'the treasury cannot pay: its balance is reserved for other fundings.'
}

/**
 * Ensures, in the transaction that signs fundings, that the treasury can pay them on top of the signed ones. A lock
 * serialises concurrent transactions.
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
