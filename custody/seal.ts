import { getRandomValues } from 'node:crypto'
import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { computeAddress, hexlify } from 'ethers'

/** RFC 9180: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM. */
export const suite = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
})

/** Length of the encapsulated key that precedes the ciphertext in a sealed secret, bytes. */
export const ENCAPSULATED_BYTES = 65

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

export function associatedData(context: SealContext): Uint8Array<ArrayBuffer> {
  const { purpose, owner, accountId, address, kekId } = context
  return new Uint8Array(
    Buffer.from(['v1', owner, accountId, address, kekId, purpose].join('|'), 'utf8'),
  )
}

/** Seals a private key to the public half of a KEK: encapsulated key (65 bytes), then ciphertext. */
export async function seal(
  kek: Kek,
  privateKey: Uint8Array<ArrayBuffer>,
  context: SealContext,
): Promise<Buffer> {
  const publicKey = new Uint8Array(kek.publicKey).buffer
  const recipientPublicKey = await suite.kem.deserializePublicKey(publicKey)
  const sender = await suite.createSenderContext({ recipientPublicKey })
  const ciphertext = await sender.seal(privateKey, associatedData(context))
  return Buffer.concat([Buffer.from(sender.enc), Buffer.from(ciphertext)])
}

/**
 * Makes a random account and seals its key at once. The clear key is erased before this returns.
 *
 * @param describe - Says what the key of this address is bound to.
 * @returns The checksummed address and the sealed key.
 */
export async function createSealedAccount(
  kek: Kek,
  describe: (address: string) => Omit<SealContext, 'address' | 'kekId'>,
): Promise<{ address: string; sealed: Buffer }> {
  const privateKey = randomPrivateKey()
  try {
    const address = computeAddress(hexlify(secp256k1.getPublicKey(privateKey, false)))
    const context = { ...describe(address), address, kekId: kek.id }
    return { address, sealed: await seal(kek, privateKey, context) }
  } finally {
    privateKey.fill(0)
  }
}

function randomPrivateKey(): Uint8Array<ArrayBuffer> {
  const key = getRandomValues(new Uint8Array(32))
  return secp256k1.utils.isValidSecretKey(key) ? key : randomPrivateKey()
}
