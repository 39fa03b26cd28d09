import { dataLength, getAddress, isHexString } from 'ethers'
import { isSameAddress } from '../../address.js'
import { ServiceError } from '../../../domain/errors.js'
import { speedOf } from './speed.js'
import type { Chain } from '../../registry.js'
import type { BridgeMessage } from '../bridge.js'

/** A CCTP v2 message of a burn. Amounts and fees are base units of USDC. */
export type CctpMessage = {
  sourceDomain: number
  destinationDomain: number
  nonce: string
  sender: string
  recipient: string
  /** The only account that may deliver the message; the zero address for any. */
  destinationCaller: string
  minFinalityThreshold: number
  finalityThresholdExecuted: number
  messageBody: string
  burnToken: string
  mintRecipient: string
  amount: bigint
  messageSender: string
  maxFee: bigint
  feeExecuted: bigint
  /** Destination block from which the message cannot be minted; 0: it never expires. */
  expirationBlock: bigint
  hookData: string
}

const BODY_AT = 148

/**
 * First byte and size of each field. The burn emits `nonce`, `finalityThresholdExecuted`, `feeExecuted` and
 * `expirationBlock` as zero. The attestation service sets them and signs the whole message.
 * @see https://developers.circle.com/cctp/technical-guide#message-format
 */
export const cctpFields = {
  sourceDomain: [4, 4],
  destinationDomain: [8, 4],
  nonce: [12, 32],
  sender: [44, 32],
  recipient: [76, 32],
  destinationCaller: [108, 32],
  minFinalityThreshold: [140, 4],
  finalityThresholdExecuted: [144, 4],
  burnToken: [BODY_AT + 4, 32],
  mintRecipient: [BODY_AT + 36, 32],
  amount: [BODY_AT + 68, 32],
  messageSender: [BODY_AT + 100, 32],
  maxFee: [BODY_AT + 132, 32],
  feeExecuted: [BODY_AT + 164, 32],
  expirationBlock: [BODY_AT + 196, 32],
} as const

const HOOK_DATA_AT = BODY_AT + 228

/**
 * Reads the bytes of a burn message.
 *
 * @throws {ServiceError} INTERNAL when they are too short for one.
 */
export function decodeCctpMessage(message: string): CctpMessage {
  const { bytes, field, number, units, account } = openMessage(message)
  return {
    sourceDomain: number('sourceDomain'),
    destinationDomain: number('destinationDomain'),
    nonce: field('nonce'),
    sender: account('sender'),
    recipient: account('recipient'),
    destinationCaller: account('destinationCaller'),
    minFinalityThreshold: number('minFinalityThreshold'),
    finalityThresholdExecuted: number('finalityThresholdExecuted'),
    messageBody: bytes(BODY_AT),
    burnToken: account('burnToken'),
    mintRecipient: account('mintRecipient'),
    amount: units('amount'),
    messageSender: account('messageSender'),
    maxFee: units('maxFee'),
    feeExecuted: units('feeExecuted'),
    expirationBlock: units('expirationBlock'),
    hookData: bytes(HOOK_DATA_AT),
  }
}

type Field = keyof typeof cctpFields

/** Decodes fields lazily, because most callers read few of them, and often. */
function openMessage(message: string) {
  if (!isHexString(message, true) || message.length < digitsTo(HOOK_DATA_AT)) {
    throw new ServiceError('INTERNAL', 'The bytes are not a burn message of CCTP v2.')
  }
  const text = message.toLowerCase()
  const bytes = (start: number, end?: number) =>
    `0x${text.slice(digitsTo(start), end === undefined ? undefined : digitsTo(end))}`
  const field = (name: Field) => {
    const [start, size] = cctpFields[name]
    return bytes(start, start + size)
  }
  return {
    bytes,
    field,
    number: (name: Field) => Number(field(name)),
    units: (name: Field) => BigInt(field(name)),
    account: (name: Field) => getAddress(`0x${field(name).slice(-ADDRESS)}`),
  }
}

/** Hex digits of an address, which is at the end of its word. */
const ADDRESS = 40

/** Characters of hex text before a byte. */
const digitsTo = (place: number) => 2 + 2 * place

export function readMessage(message: string): BridgeMessage {
  const { field, number, units, account } = openMessage(message)
  return {
    nonce: field('nonce'),
    recipient: account('mintRecipient'),
    units: units('amount'),
    speed: speedOf(number('minFinalityThreshold')),
    expirationBlock: units('expirationBlock'),
  }
}

export function leadsTo({ cctp }: Chain, message: string): boolean {
  const { number, account } = openMessage(message)
  const isThere = number('destinationDomain') === cctp.domain
  return isThere && isSameAddress(account('recipient'), cctp.tokenMessenger)
}

/** Fields that the attestation sets. */
const filledIn = ['nonce', 'finalityThresholdExecuted', 'feeExecuted', 'expirationBlock'] as const

export function isSameMessage(sent: string, attested: string): boolean {
  if (dataLength(sent) !== dataLength(attested)) return false
  return blank(sent) === blank(attested)
}

function blank(message: string): string {
  return filledIn.reduce((text, field) => {
    const [start, size] = cctpFields[field]
    const [from, to] = [digitsTo(start), digitsTo(start + size)]
    return text.slice(0, from) + '0'.repeat(to - from) + text.slice(to)
  }, message.toLowerCase())
}
