import { describe, expect, test } from 'vitest'
import { Wallet, hexlify, randomBytes, recoverAddress } from 'ethers'
import {
  buildUserOperation,
  callGasOf,
  encodeBatch,
  encodeBundle,
  entryPoint,
  hashUserOperation,
  readExecuted,
  typedUserOperation,
} from '../../evm/calls/userOperation.js'

const address = hexlify(randomBytes(20))
const draft = buildUserOperation({
  ...{ sender: address, key: hexlify(randomBytes(24)), callGas: 123_456n },
  callData: encodeBatch([{ to: address, data: '0x1234' }]),
})

test('hashUserOperation: the hash that a wallet signs as typed data', async () => {
  const wallet = Wallet.createRandom()
  const { domain, types, message } = typedUserOperation(421_614, draft)
  const signature = await wallet.signTypedData(domain, types, message)
  expect(recoverAddress(hashUserOperation(421_614, draft), signature)).toBe(wallet.address)
  expect(hashUserOperation(1, draft)).not.toBe(hashUserOperation(421_614, draft))
})

test('encodeBundle: the EntryPoint decodes it', () => {
  const operation = { ...draft, signature: hexlify(randomBytes(65)) }
  const decoded = entryPoint.decodeFunctionData('handleOps', encodeBundle([operation], address))
  expect((decoded[0] as { callData: string }[])[0]?.callData).toBe(draft.callData)
  expect(callGasOf(operation)).toBe(123_456n)
})

describe('error: bytes that are not whole hex', () => {
  test.each(['0x1', '0x12zz', '12', '', '0x12 '])('%p as bytes', (value) => {
    // A stored value must not be signed or included truncated.
    const altered = { ...draft, callData: value, signature: hexlify(randomBytes(65)) }
    expect(() => hashUserOperation(1, altered)).toThrow()
    expect(() => encodeBundle([altered], address)).toThrow()
  })
})

test('readExecuted: the key of the nonce', () => {
  const key = `0x${'ab'.repeat(24)}`
  const nonce = BigInt(`${key}${'0'.repeat(16)}`) + 1n
  const sender = '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238'
  const values = [`0x${'22'.repeat(32)}`, sender, sender, nonce, false, 7n, 8n]
  const log = entryPoint.encodeEventLog('UserOperationEvent', values)
  expect(readExecuted(log)).toEqual({ sender, key, success: false, gasUsed: 8n })
})
