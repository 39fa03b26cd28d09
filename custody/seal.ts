import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core'
import { sealTo } from './hpke.js'

/** Creates and imports keys that secrets are sealed to. Its algorithms match those of `sealTo`. */
export const suite = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
})

export type Kek = { id: string; publicKey: Uint8Array }

/** The context that a sealed key is bound to. A secret that is moved to another row does not open. */
export type SealContext = {
  purpose: 'wallet' | 'sender' | 'treasury'
  /** Owner of the row: wallet id, `<chain id>/<address>` of a sender, or address of the treasury. */
  owner: string
  accountId: string
  address: string
  kekId: string
}

export function associatedData(context: SealContext): Buffer {
  const { purpose, owner, accountId, address, kekId } = context
  return Buffer.from(['v1', owner, accountId, address, kekId, purpose].join('|'), 'utf8')
}

/** Seals a private key to a KEK: encapsulated key (65 bytes), ciphertext, tag. */
export const seal = (kek: Kek, privateKey: Uint8Array, context: SealContext): Buffer =>
  sealTo(kek.publicKey, privateKey, associatedData(context))
