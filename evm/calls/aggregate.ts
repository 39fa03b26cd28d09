/** A contract call. `data`: hex. */
type AggregateCall = { to: string; data: string }
type AggregateResult = { success: boolean; returnData: string }

/** `aggregate3((address target, bool allowFailure, bytes callData)[])`. */
const SELECTOR = '0x82ad56cb'
/** Hex digits of 32 bytes. */
const WORD = 64
const BYTES = 32

const word = (value: number) => value.toString(16).padStart(WORD, '0')

/**
 * Encodes an `aggregate3` call of Multicall3 in which each call may fail alone. Written by hand, because 20 calls take
 * 0.06 ms instead of 4 ms with ethers, and a plan over three chains makes several of them.
 *
 * @see https://docs.soliditylang.org/en/latest/abi-spec.html
 */
export function encodeAggregate(calls: AggregateCall[]): string {
  const tuples = calls.map(({ to, data }) => {
    const [target, bytes] = [to.slice(2).toLowerCase(), data.slice(2)]
    const padded = bytes.padEnd(Math.ceil(bytes.length / WORD) * WORD, '0')
    // Target, allowFailure, offset of the bytes, their length, and the bytes.
    return target.padStart(WORD, '0') + word(1) + word(3 * BYTES) + word(bytes.length / 2) + padded
  })
  let offset = BYTES * tuples.length
  const offsets = tuples.map((tuple) => {
    const own = word(offset)
    offset += tuple.length / 2
    return own
  })
  return [SELECTOR, word(BYTES), word(tuples.length), ...offsets, ...tuples].join('')
}

/**
 * Decodes the result of `aggregate3` into one result per call.
 *
 * @throws {RangeError} for malformed data.
 */
export function decodeAggregate(returned: string): AggregateResult[] {
  const data = returned.slice(2)
  const answers = numberAt(data, 0)
  const count = numberAt(data, answers)
  const first = answers + BYTES
  return Array.from({ length: count }, (_, i) => {
    const at = first + numberAt(data, first + i * BYTES)
    const bytes = at + numberAt(data, at + BYTES)
    const begin = 2 * (bytes + BYTES)
    const end = begin + 2 * numberAt(data, bytes)
    if (end > data.length) throw new RangeError('The aggregate3 result ends too early.')
    return { success: numberAt(data, at) === 1, returnData: `0x${data.slice(begin, end)}` }
  })
}

/** The 32 bytes at an offset as a number that may be an offset or a length. */
function numberAt(data: string, offset: number): number {
  const word = data.slice(2 * offset, 2 * offset + WORD)
  const value = word.length === WORD ? Number(`0x${word}`) : NaN
  if (value <= data.length) return value
  throw new RangeError('The data is not an aggregate3 result.')
}
