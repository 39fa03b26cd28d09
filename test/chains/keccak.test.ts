import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { hexlify, keccak256 } from 'ethers'
import { hashQuickly } from '../../chains/keccak.js'

/** So many bytes, always the same. */
const bytesOf = (length: number) =>
  createHash('shake256', { outputLength: length }).update('steward')
const LONGEST = 300
/** What ethers hashes by unless it is told otherwise. */
const usual = keccak256 as typeof keccak256 & { _(data: Uint8Array): Uint8Array }

describe('hashQuickly', () => {
  // What it does not take the place of hashes nothing any more.
  beforeEach(() => {
    keccak256.register(() => {
      throw new Error('Nobody has taken its place.')
    })
  })

  test('the hash of nothing is the known one', async () => {
    await hashQuickly()
    const known = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
    expect(keccak256('0x')).toBe(known)
  })

  test(`all hashes are those of ethers, of up to ${LONGEST} bytes and of a bundle`, async () => {
    await hashQuickly()
    const lengths = [...Array.from({ length: LONGEST }, (_, i) => i + 1), 25_000]
    for (const length of lengths) {
      const bytes = bytesOf(length).digest()
      expect(keccak256(bytes)).toBe(hexlify(usual._(bytes)))
    }
  })
})
