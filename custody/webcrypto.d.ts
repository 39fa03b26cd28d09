import type { webcrypto } from 'node:crypto'

declare global {
  /** Global types that @hpke/core refers to. Without the DOM library they are not declared elsewhere. */
  type CryptoKey = webcrypto.CryptoKey
  type CryptoKeyPair = webcrypto.CryptoKeyPair
  type JsonWebKey = webcrypto.JsonWebKey
}
