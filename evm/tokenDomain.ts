import { Interface, TypedDataEncoder } from 'ethers'
import { readContract } from './read.js'
import type { ChainClient } from './connect.js'
import type { Token } from './registry.js'

/** @see https://eips.ethereum.org/EIPS/eip-2612 */
const domainSeparator = new Interface(['function DOMAIN_SEPARATOR() view returns (bytes32)'])

/** The EIP-712 domain in which a token's authorizations are signed. */
export const tokenDomain = ({ chainId }: { chainId: number }, { eip712, address }: Token) => ({
  ...eip712,
  chainId,
  verifyingContract: address,
})

/**
 * True when the token verifies signatures in the domain of the registry. With another domain every signed payment
 * would revert.
 *
 * @throws {ServiceError} RPC_ERROR, also when the token returns no separator.
 */
export async function readsDomain(client: ChainClient, token: Token): Promise<boolean> {
  const call = { to: token.address, abi: domainSeparator, name: 'DOMAIN_SEPARATOR' }
  const [separator] = await readContract(client, call)
  return separator === TypedDataEncoder.hashDomain(tokenDomain(client.chain, token))
}
