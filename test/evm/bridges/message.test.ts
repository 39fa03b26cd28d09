import { describe, expect, test } from 'vitest'
import { concat, getAddress, hexlify, toBeHex, zeroPadValue } from 'ethers'
import fc from 'fast-check'
import { decodeCctpMessage, leadsTo, readMessage } from '../../../evm/bridges/cctp/message.js'
import { createRegistry } from '../../../evm/registry.js'
import { holds } from '../../domain/plan/holds.js'

const base = createRegistry('testnet').get('base-sepolia')

const bytesOf = (size: number) =>
  fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => hexlify(bytes))
const number = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const units = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const account = bytesOf(20).map(getAddress)
const anyMessage = fc.record({
  ...{ sourceDomain: number, destinationDomain: number, nonce: bytesOf(32) },
  ...{ sender: account, recipient: account, destinationCaller: account },
  minFinalityThreshold: fc.constantFrom(500, 1_000, 1_001, 2_000),
  finalityThresholdExecuted: number,
  ...{ burnToken: account, mintRecipient: account, amount: units, messageSender: account },
  ...{ maxFee: units, feeExecuted: units, expirationBlock: units },
  hookData: fc.uint8Array({ maxLength: 40 }).map((bytes) => hexlify(bytes)),
})
type MessageFields = typeof anyMessage extends fc.Arbitrary<infer Value> ? Value : never

const fromNumber = (value: number) => toBeHex(value, 4)
const fromUnits = (value: bigint) => toBeHex(value, 32)
const fromAccount = (address: string) => zeroPadValue(address, 32)

/** The bytes, field by field in format order. */
function encode(fields: MessageFields): { body: string; message: string } {
  const body = concat([
    ...[fromNumber(1), fromAccount(fields.burnToken), fromAccount(fields.mintRecipient)],
    ...[fromUnits(fields.amount), fromAccount(fields.messageSender), fromUnits(fields.maxFee)],
    ...[fromUnits(fields.feeExecuted), fromUnits(fields.expirationBlock), fields.hookData],
  ])
  const message = concat([
    ...[fromNumber(1), fromNumber(fields.sourceDomain), fromNumber(fields.destinationDomain)],
    ...[
      fields.nonce,
      ...[fields.sender, fields.recipient, fields.destinationCaller].map(fromAccount),
    ],
    ...[
      fromNumber(fields.minFinalityThreshold),
      fromNumber(fields.finalityThresholdExecuted),
      body,
    ],
  ])
  return { body, message }
}

describe('a burn message', () => {
  test('is decoded field by field, in any letter case', () => {
    const property = fc.property(anyMessage, fc.boolean(), (fields, isLoud) => {
      const { body, message } = encode(fields)
      const spelled = isLoud ? `0x${message.slice(2).toUpperCase()}` : message
      expect(decodeCctpMessage(spelled)).toEqual({ ...fields, messageBody: body })
      expect(readMessage(spelled)).toEqual({
        ...{ nonce: fields.nonce, recipient: fields.mintRecipient, units: fields.amount },
        speed: fields.minFinalityThreshold > 1_000 ? 'standard' : 'fast',
        expirationBlock: fields.expirationBlock,
      })
      expect(leadsTo(base, spelled)).toBe(false)
    })
    holds(property, 200)
  })

  test('leads to the chain of its domain and recipient', () => {
    const [fields] = fc.sample(anyMessage, { numRuns: 1, seed: 1 })
    if (!fields) throw new Error('There is no message.')
    const { domain, tokenMessenger } = base.cctp
    const there = { ...fields, destinationDomain: domain, recipient: tokenMessenger }
    const leads = (changed: Partial<MessageFields>) =>
      leadsTo(base, encode({ ...there, ...changed }).message)
    expect(leads({})).toBe(true)
    expect(leads({ destinationDomain: domain + 1 })).toBe(false)
    expect(leads({ recipient: fields.sender })).toBe(false)
  })

  test('error: bytes of another format', () => {
    const [fields] = fc.sample(anyMessage, { numRuns: 1, seed: 1 })
    const { message } = encode({ ...(fields as MessageFields), hookData: '0x' })
    const refused = { code: 'INTERNAL', message: 'The bytes are not a burn message of CCTP v2.' }
    const others = [
      ...['', '0x', message.slice(0, -2), message.slice(2)],
      ...[`${message}0`, `${message.slice(0, -2)}zz`],
    ]
    for (const other of others) {
      for (const read of [decodeCctpMessage, readMessage]) {
        expect(() => read(other)).toThrow(expect.objectContaining(refused))
      }
    }
  })
})
