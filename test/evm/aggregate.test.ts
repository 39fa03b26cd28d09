import { describe, expect, test } from 'vitest'
import { Interface, hexlify, randomBytes, getAddress } from 'ethers'
import { decodeAggregate, encodeAggregate } from '../../evm/calls/aggregate.js'

/** @see https://www.multicall3.com */
const multicall = new Interface([
  `function aggregate3(tuple(address target, bool allowFailure, bytes callData)[] calls) payable
    returns (tuple(bool success, bytes returnData)[] results)`,
])

const lengths = [0, 1, 4, 31, 32, 33, 36, 64, 100]
const bytesOf = (length: number) => hexlify(randomBytes(length))

describe('encodeAggregate', () => {
  test.each([0, 1, 2, lengths.length])('%p calls: the same bytes as ethers', (count) => {
    const calls = lengths.slice(0, count).map((length) => {
      return { to: getAddress(bytesOf(20)), data: bytesOf(length) }
    })
    const all = calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))
    expect(encodeAggregate(calls)).toBe(multicall.encodeFunctionData('aggregate3', [all]))
  })
})

describe('decodeAggregate', () => {
  const encode = (answers: object[]) => multicall.encodeFunctionResult('aggregate3', [answers])

  test.each([0, 1, 2, lengths.length])('%p answers', (count) => {
    const answers = lengths.slice(0, count).map((length, i) => {
      return { success: i % 2 === 0, returnData: bytesOf(length) }
    })
    expect(decodeAggregate(encode(answers))).toEqual(answers)
  })

  const whole = encode([{ success: true, returnData: bytesOf(40) }])
  test.each([
    ['nothing', '0x'],
    ['one word', `0x${'0'.repeat(64)}`.slice(0, 40)],
    ['data that ends within a word', whole.slice(0, -70)],
    ['data that ends before its bytes', whole.slice(0, -128)],
    ['an offset beyond its end', `0x${'f'.repeat(64)}${whole.slice(66)}`],
    ['a reason in words', `0x08c379a0${'41'.repeat(100)}`],
  ])('error: RangeError for %s', (_what, returned) => {
    expect(() => decodeAggregate(returned)).toThrow(RangeError)
  })
})
