import { AbiCoder, dataSlice, getAddress, id, keccak256, toBeHex, MaxUint256 } from 'ethers'
import { didAnswer, type ChainClient } from '../connect.js'
import { blockParameter, type BlockRef } from '../read.js'
import type { Call } from '../../domain/intent/operation.js'

/** A call to simulate. `overrides`: changed state of accounts. */
type Simulation = { from: string; call: Call; block: BlockRef; overrides?: object }

/**
 * The first amount whose call would succeed at a block; zero when none would. A simulation that the node rejects counts
 * as failed.
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

/** An empty account without a known key. */
export const SIMULATED_ACCOUNT = getAddress(dataSlice(id('steward: who simulates'), 12))

/**
 * Storage slots of balances and allowances in Circle's USDC.
 * @see https://github.com/circlefin/stablecoin-evm FiatTokenV1.sol, the variables of its parents first
 */
const BALANCES_SLOT = 9
const ALLOWANCES_SLOT = 10

const slotOf = (account: string, slot: string) =>
  keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'bytes32'], [account, slot]))

/** State overrides that give the simulated account USDC, base units, with an allowance for a spender. */
export function withUsdc(usdc: string, spender: string, units: bigint): object {
  const balance = slotOf(SIMULATED_ACCOUNT, toBeHex(BALANCES_SLOT, 32))
  const allowance = slotOf(spender, slotOf(SIMULATED_ACCOUNT, toBeHex(ALLOWANCES_SLOT, 32)))
  const stateDiff = { [balance]: toBeHex(units, 32), [allowance]: toBeHex(MaxUint256, 32) }
  return { [usdc]: { stateDiff } }
}
