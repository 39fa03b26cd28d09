import { describe, expect, test } from '@jest/globals'
import { SigningKey, Wallet, getBytes, toBeHex } from 'ethers'
import fc from 'fast-check'
import { AccountKey } from '../../custody/account.js'
import { holds } from '../domain/plan/holds.js'

/** How many points the curve has: private keys are from 1 to one less. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const bytesOf = (value: bigint) => getBytes(toBeHex(value, 32))
const keys = fc.oneof(
  fc.bigInt(1n, ORDER - 1n),
  fc.constantFrom(1n, 2n, ORDER / 2n, ORDER - 2n, ORDER - 1n),
)
const digests = fc.oneof(
  fc.bigInt(0n, 2n ** 256n - 1n),
  fc.constantFrom(0n, 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n),
)

describe('AccountKey', () => {
  test('signs the very bytes that ethers signs, for the same public key and address', () => {
    const property = fc.property(keys, digests, (key, digest) => {
      const [ours, theirs] = [new AccountKey(bytesOf(key)), new SigningKey(toBeHex(key, 32))]
      expect(ours.publicKey).toBe(theirs.publicKey)
      expect(new Wallet(ours).address).toBe(new Wallet(theirs).address)
      const signature = ours.sign(bytesOf(digest))
      expect(signature.serialized).toBe(theirs.sign(bytesOf(digest)).serialized)
      expect(ours.sign(toBeHex(digest, 32)).serialized).toBe(signature.serialized)
    })
    holds(property, 100)
  })

  test('keeps a copy: the caller may erase what it gave', () => {
    const privateKey = bytesOf(7n)
    const key = new AccountKey(privateKey)
    privateKey.fill(0)
    expect(key.publicKey).toBe(new SigningKey(toBeHex(7n, 32)).publicKey)
  })

  test.each([0n, ORDER, 2n ** 256n - 1n])('%d is no private key', (value) => {
    expect(() => new AccountKey(bytesOf(value)).publicKey).toThrow()
    expect(() => new AccountKey(bytesOf(value)).sign(bytesOf(1n))).toThrow()
  })

  test('a digest has 32 bytes', () => {
    expect(() => new AccountKey(bytesOf(7n)).sign(new Uint8Array(31))).toThrow()
  })
})
