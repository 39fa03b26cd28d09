import { describe, expect, test } from 'vitest'
import { concat, getAddress, hexlify, toBeHex, zeroPadValue } from 'ethers'
import fc from 'fast-check'
import { decodeCctpMessage, leadsTo, readMessage } from '../../../protocols/bridges/cctp/message.js'
import { createRegistry } from '../../../chains/registry.js'
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
type Told = typeof anyMessage extends fc.Arbitrary<infer Value> ? Value : never

const fromNumber = (value: number) => toBeHex(value, 4)
const fromUnits = (value: bigint) => toBeHex(value, 32)
const fromAccount = (address: string) => zeroPadValue(address, 32)

/** The bytes, field by field in the order of the format. */
function encode(told: Told): { body: string; message: string } {
  const body = concat([
    ...[fromNumber(1), fromAccount(told.burnToken), fromAccount(told.mintRecipient)],
    ...[fromUnits(told.amount), fromAccount(told.messageSender), fromUnits(told.maxFee)],
    ...[fromUnits(told.feeExecuted), fromUnits(told.expirationBlock), told.hookData],
  ])
  const message = concat([
    ...[fromNumber(1), fromNumber(told.sourceDomain), fromNumber(told.destinationDomain)],
    ...[told.nonce, ...[told.sender, told.recipient, told.destinationCaller].map(fromAccount)],
    ...[fromNumber(told.minFinalityThreshold), fromNumber(told.finalityThresholdExecuted), body],
  ])
  return { body, message }
}

describe('the bytes of a burn message', () => {
  test('are read field by field, however they are spelled', () => {
    const property = fc.property(anyMessage, fc.boolean(), (told, isLoud) => {
      const { body, message } = encode(told)
      const spelled = isLoud ? `0x${message.slice(2).toUpperCase()}` : message
      expect(decodeCctpMessage(spelled)).toEqual({ ...told, messageBody: body })
      expect(readMessage(spelled)).toEqual({
        ...{ nonce: told.nonce, recipient: told.mintRecipient },
        speed: told.minFinalityThreshold > 1_000 ? 'standard' : 'fast',
        expirationBlock: told.expirationBlock,
      })
      expect(leadsTo(base, spelled)).toBe(false)
    })
    holds(property, 200)
  })

  test('lead where their domain and recipient are', () => {
    const [told] = fc.sample(anyMessage, { numRuns: 1, seed: 1 })
    if (!told) throw new Error('There is no message.')
    const { domain, tokenMessenger } = base.cctp
    const there = { ...told, destinationDomain: domain, recipient: tokenMessenger }
    const leads = (changed: Partial<Told>) =>
      leadsTo(base, encode({ ...there, ...changed }).message)
    expect(leads({})).toBe(true)
    expect(leads({ destinationDomain: domain + 1 })).toBe(false)
    expect(leads({ recipient: told.sender })).toBe(false)
  })

  test('are refused when they are none', () => {
    const [told] = fc.sample(anyMessage, { numRuns: 1, seed: 1 })
    const { message } = encode({ ...(told as Told), hookData: '0x' })
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
