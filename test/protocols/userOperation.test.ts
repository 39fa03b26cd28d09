import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { Interface, TypedDataEncoder, getAddress } from 'ethers'
import { bytes, callEncoder, list, toBytes, tuple, word } from '../../chains/abi.js'
import {
  buildUserOperation,
  encodeBatch,
  encodeBundle,
  entryPoint,
  hashUserOperation,
  typedUserOperation,
} from '../../protocols/userOperation.js'

const seed = process.env.ENCODING_SEED ?? randomBytes(4).toString('hex')
const ROUNDS = 40

let drawn = 0
/** So many bytes as hex: the same for the same seed. */
function hex(length: number): string {
  let digits = ''
  while (digits.length < 2 * length) {
    digits += createHash('sha256').update(`${seed} ${drawn++}`).digest('hex')
  }
  return `0x${digits.slice(0, 2 * length)}`
}
const below = (limit: number) => Number(BigInt(hex(4)) % BigInt(limit))
const address = () => getAddress(hex(20))
const several = <T>(most: number, draw: () => T) => Array.from({ length: below(most + 1) }, draw)

const delegate = new Interface([
  'function executeBatch(tuple(address target, uint256 value, bytes data)[] calls)',
])

describe(`what is encoded by hand is what ethers encodes (ENCODING_SEED=${seed})`, () => {
  test('a batch of calls', () => {
    for (let round = 0; round < ROUNDS; round++) {
      const calls = several(4, () => ({ to: address(), data: hex(below(140)) }))
      const targets = calls.map(({ to, data }) => ({ target: to, value: 0n, data }))
      expect(encodeBatch(calls)).toBe(delegate.encodeFunctionData('executeBatch', [targets]))
    }
  })

  test('a bundle of user operations, and the hash that a wallet signs', () => {
    for (let round = 0; round < ROUNDS; round++) {
      const operations = several(20, randomOperation)
      const beneficiary = address()
      const known = entryPoint.encodeFunctionData('handleOps', [operations, beneficiary])
      expect(encodeBundle(operations, beneficiary)).toBe(known)
      for (const operation of operations.slice(0, 2)) {
        const chainId = 1 + below(500_000)
        const { domain, types, message } = typedUserOperation(chainId, operation)
        const hash = TypedDataEncoder.hash(domain, types, message)
        expect(hashUserOperation(chainId, operation)).toBe(hash)
      }
    }
  })

  test('arguments of fixed and of any length, one within the other', () => {
    const abi = new Interface([
      'function f(uint256[2][] a, tuple(bytes b, address c)[] d, uint8 e)',
    ])
    const encode = callEncoder(abi, 'f')
    for (let round = 0; round < ROUNDS; round++) {
      const pairs = several(3, () => [BigInt(hex(32)), BigInt(below(9))] as const)
      const named = several(3, () => ({ b: hex(below(70)), c: address() }))
      const encoded = encode([
        list(pairs.map((pair) => tuple(pair.map(word)))),
        list(named.map(({ b, c }) => tuple([bytes(b), word(c)]))),
        word(7n),
      ])
      expect(encoded).toBe(abi.encodeFunctionData('f', [pairs, named, 7]))
    }
  })
})

describe('what is not whole hex is refused', () => {
  const operation = { ...randomOperation(), callData: '0x12345678' }

  test.each(['0x1', '0x12zz', '12', '', '0x12 '])('%p as bytes', (value) => {
    expect(() => bytes(value)).toThrow()
    expect(() => toBytes(value)).toThrow()
    // What a row holds must not be signed or carried as something shorter.
    const altered = { ...operation, callData: value }
    expect(() => hashUserOperation(1, altered)).toThrow()
    expect(() => encodeBundle([altered], address())).toThrow()
  })

  test.each([`0x${'0'.repeat(65)}`, '0xg', '12', 1n << 256n, -1n])('%p as a word', (value) => {
    expect(() => word(value)).toThrow()
  })

  test('a function that a contract does not have', () => {
    expect(() => callEncoder(entryPoint, 'other')).toThrow('No function other.')
  })
})

function randomOperation() {
  const calls = [{ to: address(), data: hex(below(100)) }]
  const callGas = BigInt(below(1_000_000))
  const draft = buildUserOperation({ sender: address(), key: hex(24), calls, callGas })
  return { ...draft, paymasterAndData: hex(below(3) * 20), signature: hex(65) }
}
