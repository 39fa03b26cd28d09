import { dataLength, dataSlice, getAddress } from 'ethers'
import { ServiceError } from '../../../domain/errors.js'

/** A message of CCTP v2 that carries a burn. Amounts and fees are base units of USDC. */
export type CctpMessage = {
  sourceDomain: number
  destinationDomain: number
  nonce: string
  sender: string
  recipient: string
  /** Who alone may bring the message to its destination; the zero address for anybody. */
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
  /**
   * The message cannot be minted from this block of its destination on; zero for one that lasts.
   */
  expirationBlock: bigint
  hookData: string
}

const bodyAt = 148

/**
 * First byte and size of each field. On chain the burn emits `nonce`, `finalityThresholdExecuted`,
 * `feeExecuted` and `expirationBlock` as zero; the attestation service writes them and signs the
 * whole.
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
  burnToken: [bodyAt + 4, 32],
  mintRecipient: [bodyAt + 36, 32],
  amount: [bodyAt + 68, 32],
  messageSender: [bodyAt + 100, 32],
  maxFee: [bodyAt + 132, 32],
  feeExecuted: [bodyAt + 164, 32],
  expirationBlock: [bodyAt + 196, 32],
} as const

const hookDataAt = bodyAt + 228

/**
 * Reads the bytes of a burn message.
 *
 * @throws {ServiceError} INTERNAL when they are too short for one.
 */
export function decodeCctpMessage(message: string): CctpMessage {
  if (dataLength(message) < hookDataAt) {
    throw new ServiceError('INTERNAL', 'These bytes are no burn message of CCTP v2.')
  }
  const field = (name: keyof typeof cctpFields) => {
    const [start, size] = cctpFields[name]
    return dataSlice(message, start, start + size)
  }
  const units = (name: keyof typeof cctpFields) => BigInt(field(name))
  const account = (name: keyof typeof cctpFields) => getAddress(dataSlice(field(name), 12))
  return {
    sourceDomain: Number(field('sourceDomain')),
    destinationDomain: Number(field('destinationDomain')),
    nonce: field('nonce'),
    sender: account('sender'),
    recipient: account('recipient'),
    destinationCaller: account('destinationCaller'),
    minFinalityThreshold: Number(field('minFinalityThreshold')),
    finalityThresholdExecuted: Number(field('finalityThresholdExecuted')),
    messageBody: dataSlice(message, bodyAt),
    burnToken: account('burnToken'),
    mintRecipient: account('mintRecipient'),
    amount: units('amount'),
    messageSender: account('messageSender'),
    maxFee: units('maxFee'),
    feeExecuted: units('feeExecuted'),
    expirationBlock: units('expirationBlock'),
    hookData: dataSlice(message, hookDataAt),
  }
}
