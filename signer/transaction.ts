import { Signature, getBytes, keccak256, type Wallet } from 'ethers'
import type { Authorization } from './payload.js'

/** What a lane or the treasury is about to sign; amounts in wei. */
export type UnsignedTransaction = {
  chainId: number | bigint
  nonce: number | bigint
  to: string
  data: string
  value?: bigint
  gasLimit: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  /** Delegations that it brings with it. */
  authorizationList?: Authorization[]
}

/** One byte before the fields: a transaction with delegations, or one with fees of its own. */
const DELEGATING = 4
const USUAL = 2

/**
 * Signs a transaction by the key of its sender. Bundles are long: they are written as bytes, once.
 *
 * @returns The bytes as nodes take them, and their hash.
 * @see https://eips.ethereum.org/EIPS/eip-1559 and https://eips.ethereum.org/EIPS/eip-7702
 */
export function signTransaction(
  { signingKey }: Pick<Wallet, 'signingKey'>,
  unsigned: UnsignedTransaction,
): { raw: string; hash: string } {
  const { authorizationList } = unsigned
  const type = authorizationList ? DELEGATING : USUAL
  const fields = fieldsOf(unsigned)
  const { yParity, r, s } = signingKey.sign(keccak256(toTyped(type, fields)))
  const bytes = toTyped(type, [...fields, number(yParity), number(r), number(s)])
  return { raw: `0x${bytes.toString('hex')}`, hash: keccak256(bytes) }
}

function fieldsOf(unsigned: UnsignedTransaction): Item[] {
  const { chainId, nonce, to, data, value = 0n, gasLimit, authorizationList } = unsigned
  return [
    ...[chainId, nonce, unsigned.maxPriorityFeePerGas, unsigned.maxFeePerGas, gasLimit].map(number),
    ...[toBytes(to), number(value), toBytes(data)],
    // No access list.
    [],
    ...(authorizationList ? [authorizationList.map(authorizationFields)] : []),
  ]
}

function authorizationFields({ chainId, address, nonce, signature }: Authorization): Item {
  const { yParity, r, s } = Signature.from(signature)
  return [number(chainId), toBytes(address), ...[nonce, yParity, r, s].map(number)]
}

const toBytes = (hex: string): Buffer => Buffer.from(getBytes(hex))

/** Bytes, or a list of such. @see https://ethereum.org/developers/docs/data-structures-and-encoding/rlp */
type Item = Buffer | Item[]

/** Without leading zeros; zero is no byte at all. */
function number(value: string | number | bigint): Buffer {
  const hex = BigInt(value).toString(16)
  return hex === '0'
    ? Buffer.alloc(0)
    : Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
}

const toTyped = (type: number, fields: Item[]) => Buffer.concat([Buffer.of(type), encode(fields)])

const SHORT = { bytes: 0x80, list: 0xc0 }
/** So many bytes have their length in the first one. */
const MOST_SHORT = 55

function encode(item: Item): Buffer {
  if (Array.isArray(item)) {
    const content = Buffer.concat(item.map(encode))
    return Buffer.concat([head(SHORT.list, content.length), content])
  }
  const isItself = item.length === 1 && Number(item[0]) < SHORT.bytes
  return isItself ? item : Buffer.concat([head(SHORT.bytes, item.length), item])
}

function head(short: number, length: number): Buffer {
  if (length <= MOST_SHORT) return Buffer.of(short + length)
  const size = number(length)
  return Buffer.concat([Buffer.of(short + MOST_SHORT + size.length), size])
}
