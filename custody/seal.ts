import { createECDH, getRandomValues } from 'node:crypto'
import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { getAddress, keccak256 } from 'ethers'
import { sealTo } from './hpke.js'

/** What makes and reads the keys that secrets are sealed to: their algorithms are those of `sealTo`. */
export const suite = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
})

export type Kek = { id: string; publicKey: Uint8Array }

/** What a sealed key is bound to. A secret moved to another row does not open. */
export type SealContext = {
  purpose: 'wallet' | 'lane' | 'treasury'
  /** The row it belongs to: wallet id, `<chain id>/<address>` of a lane, address of the treasury. */
  owner: string
  accountId: string
  address: string
  kekId: string
}

export function associatedData(context: SealContext): Buffer {
  const { purpose, owner, accountId, address, kekId } = context
  return Buffer.from(['v1', owner, accountId, address, kekId, purpose].join('|'), 'utf8')
}

/** Seals a private key to the public half of a KEK: encapsulated key (65 bytes), then ciphertext. */
export const seal = (kek: Kek, privateKey: Uint8Array, context: SealContext): Buffer =>
  sealTo(kek.publicKey, privateKey, associatedData(context))

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
    const address = addressOf(privateKey)
    const context = { ...describe(address), address, kekId: kek.id }
    return { address, sealed: seal(kek, privateKey, context) }
  } finally {
    privateKey.fill(0)
  }
}

/** Of the public key, which OpenSSL derives in half the time that JavaScript takes. */
function addressOf(privateKey: Uint8Array): string {
  const account = createECDH('secp256k1')
  account.setPrivateKey(privateKey)
  // The hash is of the point without the byte that says how it is written.
  const point = account.getPublicKey().subarray(1)
  return getAddress(`0x${keccak256(point).slice(-40)}`)
}

function randomPrivateKey(): Uint8Array {
  const key = getRandomValues(new Uint8Array(32))
  return secp256k1.utils.isValidSecretKey(key) ? key : randomPrivateKey()
}
