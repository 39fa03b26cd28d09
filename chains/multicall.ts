import { Interface, type Result } from 'ethers'
import { decodeResult, readContract, type BlockRef } from './read.js'
import type { ChainClient } from './connect.js'

/**
 * Multicall3, at one address on every network. The devnet has a compatible reader there.
 * @see https://www.multicall3.com
 */
export const multicallAddress = '0xcA11bde05977b3631167028862bE2a173976CA11'

const multicall = new Interface([
  `function aggregate3(tuple(address target, bool allowFailure, bytes callData)[] calls) payable
    returns (tuple(bool success, bytes returnData)[] results)`,
])

/** A view function of a contract. */
export type Read = { to: string; abi: Interface; name: string; parameters: unknown[] }

/** The results of several view functions at one block, in their order, by one call. One that fails fails all. */
export async function readMany(
  client: ChainClient,
  reads: Read[],
  block: BlockRef = 'latest',
): Promise<Result[]> {
  const calls = reads.map(({ to, abi, name, parameters }) => ({
    target: to,
    allowFailure: false,
    callData: abi.encodeFunctionData(name, parameters),
  }))
  const [answers] = await readContract(
    client,
    multicallAddress,
    multicall,
    'aggregate3',
    [calls],
    block,
  )
  const results = answers as { returnData: string }[]
  return reads.map((read, i) => decodeResult(client, read, results[i]?.returnData ?? '0x'))
}
