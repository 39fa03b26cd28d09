import { Interface } from 'ethers'
import { readContract, type BlockRef } from '../read.js'
import { ENTRY_POINT_ADDRESS } from '../registry.js'
import { allBridges } from '../bridges/bridges.js'
import { entryPoint } from '../calls/userOperation.js'
import type { ChainClient } from '../connect.js'
import type { Expected } from './outcomes.js'

const token = new Interface([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
])

/** An EntryPoint nonce is a key and, in its low bits, the number of uses of that key. */
const COUNT_BITS = 64

/**
 * True when the chain has executed the operation, by any transaction and with any result, or has cancelled its payment.
 * A payment without a payer was never made.
 *
 * @param block - Block to read a user operation at; the latest by default. Other kinds are read at the latest block.
 * @throws {ServiceError} RPC_ERROR.
 */
export async function isKeySpent(
  client: ChainClient,
  { kind, chainKey, wallet, treasury }: Expected,
  block: BlockRef = 'latest',
): Promise<boolean> {
  if (kind === 'mint') {
    const minted = await Promise.all(allBridges.map((bridge) => bridge.isMinted(client, chainKey)))
    return minted.includes(true)
  }
  if (kind === 'fund') {
    if (treasury === null) return false
    const { address: to } = client.chain.usdc
    const call = { to, abi: token, name: 'authorizationState', args: [treasury, chainKey] }
    return (await readContract(client, call))[0] === true
  }
  const to = ENTRY_POINT_ADDRESS
  const call = { to, abi: entryPoint, name: 'getNonce', args: [wallet, chainKey], block }
  const [nonce] = await readContract(client, call)
  return BigInt.asUintN(COUNT_BITS, nonce as bigint) > 0n
}
