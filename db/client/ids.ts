import { randomFillSync } from 'node:crypto'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * A new id: the prefix and 26 base32 characters of a UUIDv7 (RFC 9562). Ids sort by creation time.
 */
export function newId(prefix: string): string {
  const bytes = takeRandom()
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = (bytes.readUInt8(6) & 0x0f) | 0x70
  bytes[8] = (bytes.readUInt8(8) & 0x3f) | 0x80
  return prefix + toBase32(bytes)
}

/** Lower bound of all ids created at or after a time (Unix, ms). */
export function firstIdAt(prefix: string, timeMs: number): string {
  const bytes = Buffer.alloc(16)
  bytes.writeUIntBE(Math.min(Math.max(0, Math.floor(timeMs)), LAST_MS), 0, 6)
  return prefix + toBase32(bytes)
}

/** The largest time that an id can represent. */
const LAST_MS = 2 ** 48 - 1

function toBase32(bytes: Buffer): string {
  let text = ''
  // Two leading zero bits and 128 bits: 26 characters of five.
  let rest = 0
  let bits = 2
  for (const byte of bytes) {
    rest = ((rest << 8) | byte) & 0xfff
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET.charAt((rest >> (bits - 5)) & 31)
  }
  return text
}

/** Characters of an id that encode its time: two zero bits and 48 bits of milliseconds. */
const TIME_LENGTH = 10

/** Lower bound of all ids created since a date. */
export function idFloor(prefix: string, since: Date): string {
  let text = ''
  for (let rest = since.getTime(); text.length < TIME_LENGTH; rest = Math.floor(rest / 32)) {
    text = ALPHABET.charAt(rest % 32) + text
  }
  return prefix + text
}

/**
 * Earliest and latest creation time (Unix ms) of ids with a known beginning.
 *
 * @param beginning - The prefix, and the known characters after it.
 */
export function timesOf(prefix: string, beginning: string): [number, number] {
  const known = beginning.slice(prefix.length, prefix.length + TIME_LENGTH)
  return [timeOf(known.padEnd(TIME_LENGTH, '0')), timeOf(known.padEnd(TIME_LENGTH, 'z'))]
}

const timeOf = (text: string) =>
  [...text].reduce((ms, letter) => ms * ALPHABET.length + valueOf(letter), 0)

/** A character that ids do not use counts as the one before it. */
const valueOf = (letter: string) => [...ALPHABET].filter((one) => one <= letter).length - 1

/** Every request has an id. Random bytes are drawn in batches, because a system call per id costs more than the rest. */
const random = Buffer.alloc(16 * 128)
let used = random.length

function takeRandom(): Buffer {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  return random.subarray(used, (used += 16))
}
