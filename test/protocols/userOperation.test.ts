import { describe, expect, test } from '@jest/globals'
import {
  buildUserOperation,
  encodeBundle,
  entryPoint,
  hashUserOperation,
  readExecuted,
} from '../../protocols/userOperation.js'

const address = '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238'
const key = `0x${'ab'.repeat(24)}`
const calls = [{ to: address, data: '0x12345678' }]
const draft = buildUserOperation({ sender: address, key, calls, callGas: 100_000n })
const operation = { ...draft, signature: `0x${'11'.repeat(65)}` }

describe('what is not whole hex is refused', () => {
  test.each(['0x1', '0x12zz', '12', '', '0x12 '])('%p as bytes', (callData) => {
    // What a row holds must not be signed or carried as something shorter.
    const altered = { ...operation, callData }
    expect(() => hashUserOperation(1, altered)).toThrow()
    expect(() => encodeBundle([altered], address)).toThrow()
  })
})

test('an execution is read with the key of its nonce', () => {
  const nonce = BigInt(operation.nonce) + 1n
  const values = [`0x${'22'.repeat(32)}`, address, address, nonce, false, 7n, 8n]
  const log = entryPoint.encodeEventLog('UserOperationEvent', values)
  expect(readExecuted(log)).toEqual({ sender: address, key, success: false, gasUsed: 8n })
})
