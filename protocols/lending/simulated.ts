import { AbiCoder, dataSlice, getAddress, id, keccak256, toBeHex, MaxUint256 } from 'ethers'
import { didAnswer, type ChainClient } from '../../chains/connect.js'
import { blockParameter, type BlockRef } from '../../chains/read.js'
import type { Call } from '../../domain/operation.js'

/** A call as somebody would make it, on a chain in which some accounts are changed. */
type Simulation = { from: string; call: Call; block: BlockRef; overrides?: object }

/**
 * The first of some amounts whose call would succeed at a block, zero when none would. What a node
 * refuses to simulate has not succeeded.
 *
 * @throws {ServiceError} RPC_ERROR when the node does not answer.
 */
export async function firstThatSucceeds(
  client: ChainClient,
  amounts: bigint[],
  simulate: (units: bigint) => Simulation,
): Promise<bigint> {
  const succeeded = await Promise.all(amounts.map((units) => succeeds(client, simulate(units))))
  return amounts[succeeded.indexOf(true)] ?? 0n
}

async function succeeds(
  { send }: ChainClient,
  { from, call, block, overrides }: Simulation,
): Promise<boolean> {
  try {
    const at = blockParameter(block)
    await send('eth_call', [{ from, ...call }, at, ...(overrides ? [overrides] : [])])
    return true
  } catch (error) {
    if (didAnswer(error)) return false
    throw error
  }
}

/** An account that nobody has the key of, and that has nothing. */
export const NOBODY = getAddress(dataSlice(id('steward: who simulates'), 12))

/**
 * Where Circle's USDC keeps balances and allowances.
 * @see https://github.com/circlefin/stablecoin-evm FiatTokenV1.sol, the variables of its parents first
 */
const BALANCES_SLOT = 9
const ALLOWANCES_SLOT = 10

const slotOf = (account: string, slot: string) =>
  keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'bytes32'], [account, slot]))

/** A chain on which `NOBODY` has money in USDC, base units, that a spender may take. */
export function withUsdc(usdc: string, spender: string, units: bigint): object {
  const balance = slotOf(NOBODY, toBeHex(BALANCES_SLOT, 32))
  const allowance = slotOf(spender, slotOf(NOBODY, toBeHex(ALLOWANCES_SLOT, 32)))
  const stateDiff = { [balance]: toBeHex(units, 32), [allowance]: toBeHex(MaxUint256, 32) }
  return { [usdc]: { stateDiff } }
}
