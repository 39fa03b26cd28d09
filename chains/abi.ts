import type { Interface } from 'ethers'

/**
 * A value of a contract's argument, encoded, as hex without `0x`: `fixed` ones stand in their place, others after all
 * places, which tell where.
 *
 * @see https://docs.soliditylang.org/en/latest/abi-spec.html
 */
export type Encoded = { hex: string; isFixed: boolean }

const WORD = 64

/** A number, an address or bytes of at most a word that are aligned as numbers are. */
export const word = (value: string | bigint): Encoded => {
  const hex = typeof value === 'bigint' ? value.toString(16) : digitsOf(value)
  if (hex.length > WORD || hex.startsWith('-')) throw new Error('A word has at most 32 bytes.')
  return { hex: hex.padStart(WORD, '0'), isFixed: true }
}

/** Bytes of any length. */
export function bytes(value: string): Encoded {
  const hex = digitsOf(value)
  if (hex.length % 2 === 1) throw new Error('Bytes have two digits each.')
  const padded = hex.padEnd(Math.ceil(hex.length / WORD) * WORD, '0')
  return { hex: word(BigInt(hex.length / 2)).hex + padded, isFixed: false }
}

/** A tuple, or the arguments of a function. */
export function tuple(values: Encoded[]): Encoded {
  const size = values.reduce((sum, one) => sum + (one.isFixed ? one.hex.length : WORD), 0)
  let [places, rest] = ['', '']
  for (const { hex, isFixed } of values) {
    places += isFixed ? hex : word(BigInt((size + rest.length) / 2)).hex
    rest += isFixed ? '' : hex
  }
  return { hex: places + rest, isFixed: values.every((one) => one.isFixed) }
}

/** An array of any length. */
export const list = (values: Encoded[]): Encoded => ({
  hex: word(BigInt(values.length)).hex + tuple(values).hex,
  isFixed: false,
})

/** Encodes calls of a function of a contract. What its arguments are it is not told. */
export function callEncoder(abi: Interface, name: string): (args: Encoded[]) => string {
  const selector = abi.getFunction(name)?.selector
  if (!selector) throw new Error(`No function ${name}.`)
  return (args) => selector + tuple(args).hex
}

/** The bytes of hex with `0x`, in whole. */
export function toBytes(value: string): Buffer {
  const hex = digitsOf(value)
  if (hex.length % 2 === 1) throw new Error('Bytes have two digits each.')
  return Buffer.from(hex, 'hex')
}

function digitsOf(value: string): string {
  if (!/^0x[0-9a-f]*$/i.test(value)) throw new Error('It is no hex.')
  return value.slice(2).toLowerCase()
}
