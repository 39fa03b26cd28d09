import { getRandomValues } from 'node:crypto'
import { Signature, SigningKey, computeAddress, getBytes, hexlify } from 'ethers'
import { isPrivate, pointFromScalar, signRecoverable } from 'tiny-secp256k1'
import { seal, type Kek, type SealContext } from './seal.js'

/**
 * Makes a random account and seals its key at once. The clear key is erased before this returns.
 *
 * @param describe - Says what the key of this address is bound to.
 * @returns The checksummed address and the sealed key.
 */
export function createSealedAccount(
  kek: Kek,
  describe: (address: string) => Omit<SealContext, 'address' | 'kekId'>,
): { address: string; sealed: Buffer } {
  const privateKey = randomPrivateKey()
  try {
    const address = computeAddress(publicKeyOf(privateKey))
    const context = { ...describe(address), address, kekId: kek.id }
    return { address, sealed: seal(kek, privateKey, context) }
  } finally {
    privateKey.fill(0)
  }
}

function randomPrivateKey(): Uint8Array {
  const key = getRandomValues(new Uint8Array(32))
  return isPrivate(key) ? key : randomPrivateKey()
}

/**
 * A private key as ethers' wallets use it, but libsecp256k1 signs and derives the public half: the same bytes in a third
 * of the time that JavaScript takes, by code that is written to take the same time for every key.
 *
 * @see https://github.com/bitcoin-core/secp256k1
 */
export class AccountKey extends SigningKey {
  readonly #privateKey: Uint8Array

  /** @param privateKey - 32 bytes, of which it keeps a copy. */
  constructor(privateKey: Uint8Array) {
    super(hexlify(privateKey))
    this.#privateKey = Uint8Array.from(privateKey)
  }

  /** An uncompressed point. */
  override get publicKey(): string {
    return publicKeyOf(this.#privateKey)
  }

  /** @param digest - Of 32 bytes. */
  override sign(digest: string | Uint8Array): Signature {
    const { signature, recoveryId } = signRecoverable(getBytes(digest), this.#privateKey)
    const v = Buffer.of(27 + (recoveryId & 1))
    return Signature.from(hexlify(Buffer.concat([signature, v])))
  }
}

/** @throws {Error} when it is no private key of the curve. */
function publicKeyOf(privateKey: Uint8Array): string {
  const point = pointFromScalar(privateKey, false)
  if (!point) throw new Error('It is no private key.')
  return hexlify(point)
}
