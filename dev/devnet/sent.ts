import { Transaction, keccak256, recoverAddress } from 'ethers'

/** A transaction as a node receives it. Amounts in wei. */
export type Sent = {
  /** The raw bytes, as sent. */
  bytes: Buffer
  chainId: bigint
  nonce: bigint
  gasLimit: bigint
  maxFeeWei: bigint
  tipWei: bigint
  valueWei: bigint
  isCreation: boolean
  data: Buffer
  /** Number of delegations in it. */
  authorizations: number
  /** Takes milliseconds the first time. Undefined when the signature is invalid. */
  sender(): string | undefined
}

/** First byte of an EIP-1559 transaction, and of an EIP-7702 transaction with delegations. */
const USUAL = 2
const DELEGATING = 4

/** Reads a raw transaction; undefined for other bytes, which the node rejects. */
export function readSent(raw: string): Sent | undefined {
  const bytes = toBytes(raw)
  try {
    return bytes[0] === USUAL || bytes[0] === DELEGATING ? readUsual(bytes) : readOther(raw)
  } catch {
    return undefined
  }
}

/** Hexadecimal text as bytes, many times faster than ethers. Whole deployments pass here. */
export const toBytes = (data: string) => Buffer.from(data.slice(2), 'hex')

/**
 * Reads the two kinds that senders and deployments send. The general reader takes many times as long.
 *
 * @see https://eips.ethereum.org/EIPS/eip-1559 and https://eips.ethereum.org/EIPS/eip-7702
 */
function readUsual(bytes: Buffer): Sent {
  const isDelegating = bytes[0] === DELEGATING
  const { content } = readItem(bytes, 1)
  const items = readItems(content)
  if (items.length !== (isDelegating ? 13 : 12))
    throw new RangeError('The bytes are no transaction.')
  const field = (place: number) => items.at(place)?.content ?? Buffer.alloc(0)
  const number = (place: number) => BigInt(`0x0${field(place).toString('hex')}`)
  const recover = () => {
    const unsigned = asList(content.subarray(0, items.at(-3)?.begin))
    const digest = keccak256(Buffer.concat([bytes.subarray(0, 1), unsigned]))
    const [r = '', s = ''] = [-2, -1].map((place) => toWord(field(place)))
    return recoverAddress(digest, { r, s, yParity: Number(number(-3)) === 1 ? 1 : 0 })
  }
  return {
    ...{ bytes, chainId: number(0), nonce: number(1), gasLimit: number(4) },
    ...{ maxFeeWei: number(3), tipWei: number(2), valueWei: number(6) },
    ...{ isCreation: field(5).length === 0, data: field(7), sender: tryOnce(recover) },
    authorizations: isDelegating ? readItems(field(9)).length : 0,
  }
}

function readOther(raw: string): Sent {
  const { chainId, nonce, gasLimit, gasPrice, value, to, data, from } = Transaction.from(raw)
  if (!from) throw new RangeError('The signature is invalid.')
  const feeWei = gasPrice ?? 0n
  return {
    ...{ bytes: toBytes(raw), chainId, nonce: BigInt(nonce), gasLimit, valueWei: value },
    ...{ maxFeeWei: feeWei, tipWei: feeWei, isCreation: to === null, data: toBytes(data) },
    ...{ authorizations: 0, sender: () => from },
  }
}

function tryOnce(work: () => string): () => string | undefined {
  let found: { sender?: string } | undefined
  const find = () => {
    try {
      return { sender: work() }
    } catch {
      return {}
    }
  }
  return () => (found ??= find()).sender
}

const toWord = (bytes: Buffer) => `0x${bytes.toString('hex').padStart(64, '0')}`

/**
 * RLP: a first byte from here on begins a list, a lower one begins bytes.
 *
 * @see https://ethereum.org/developers/docs/data-structures-and-encoding/rlp
 */
const LIST = 0xc0
const BYTES = 0x80
/** Up to this length the first byte holds the length. */
const MOST_SHORT = 55

/** `begin`, `end`: the range of the item, its length prefix included. */
type RlpItem = { begin: number; end: number; content: Buffer }

function readItem(bytes: Buffer, begin: number): RlpItem {
  const first = bytes.readUInt8(begin)
  if (first < BYTES) return itemAt(bytes, begin, { start: begin, length: 1 })
  const length = first - (first < LIST ? BYTES : LIST)
  if (length <= MOST_SHORT) return itemAt(bytes, begin, { start: begin + 1, length })
  const size = length - MOST_SHORT
  const start = begin + 1 + size
  return itemAt(bytes, begin, { start, length: bytes.readUIntBE(begin + 1, size) })
}

function itemAt(
  bytes: Buffer,
  begin: number,
  { start, length }: { start: number; length: number },
): RlpItem {
  const end = start + length
  if (end > bytes.length) throw new RangeError('The bytes end too early.')
  return { begin, end, content: bytes.subarray(start, end) }
}

/** The items of a list in order. */
function readItems(content: Buffer): RlpItem[] {
  const items: RlpItem[] = []
  for (let at = 0; at < content.length; at = items.at(-1)?.end ?? content.length) {
    items.push(readItem(content, at))
  }
  return items
}

function asList(content: Buffer): Buffer {
  if (content.length <= MOST_SHORT)
    return Buffer.concat([Buffer.of(LIST + content.length), content])
  const hex = content.length.toString(16)
  const length = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.of(LIST + MOST_SHORT + length.length), length, content])
}
