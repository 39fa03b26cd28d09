import type { webcrypto } from 'node:crypto'

declare global {
  /** Types that @hpke/core speaks of. Without the DOM library nothing else declares them. */
  type CryptoKey = webcrypto.CryptoKey
  type CryptoKeyPair = webcrypto.CryptoKeyPair
  type JsonWebKey = webcrypto.JsonWebKey
}
