import { getRandomValues } from 'node:crypto'
import { SigningKey, computeAddress } from 'ethers'
import { seal, type Kek, type SealContext } from './seal.js'

/**
 * Creates a random account and seals its private key. The clear key is erased before the function returns.
 *
 * @param describe - Returns what the key of this address is bound to.
 * @returns The checksummed address and the sealed key.
 */
export function createSealedAccount(
  kek: Kek,
  describe: (address: string) => Omit<SealContext, 'address' | 'kekId'>,
): { address: string; sealed: Buffer } {
  const privateKey = getRandomValues(new Uint8Array(32))
  try {
    const address = computeAddress(new SigningKey(privateKey))
    const context = { ...describe(address), address, kekId: kek.id }
    return { address, sealed: seal(kek, privateKey, context) }
  } finally {
    privateKey.fill(0)
  }
}
