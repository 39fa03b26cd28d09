import { getBytes, keccak256 } from 'ethers'
import type { LogFilter } from './read.js'

/**
 * True when a block may hold a log that passes the filter, false when it certainly holds none.
 *
 * @param bloom - The header's `logsBloom`, 256 bytes in hex.
 * @see https://ethereum.github.io/yellowpaper/paper.pdf the Bloom filter of a log, section 4.4.1
 */
export function mayHold(bloom: string, { emitters, topics }: LogFilter): boolean {
  const bits = getBytes(bloom)
  const isIn = (value: string) => isMember(bits, value)
  return emitters.some(isIn) && topics.every((options) => options === null || options.some(isIn))
}

/** Three bits stand for a value: the low 11 bits of the first three pairs of bytes of its hash. */
function isMember(bits: Uint8Array, value: string): boolean {
  const hash = getBytes(keccak256(value))
  return [0, 2, 4].every((at) => {
    const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 0x7ff
    return ((bits[bits.length - 1 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0
  })
}
