import { Interface, dataLength, zeroPadValue } from 'ethers'
import { isSameAddress } from '../../../chains/address.js'
import { cctpFields } from './message.js'
import type { Log } from '../../../chains/read.js'
import { encodeApprove } from '../../approve.js'
import type { Cctp, Chain } from '../../../chains/registry.js'
import type { BridgeSpeed } from '../../../domain/intent.js'
import type { Call } from '../../../domain/operation.js'

/** @see https://developers.circle.com/cctp/evm-smart-contracts TokenMessengerV2, MessageTransmitterV2 */
const tokenMessenger = new Interface([
  `function depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient,
    address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold)`,
  `event DepositForBurn(address indexed burnToken, uint256 amount, address indexed depositor,
    bytes32 mintRecipient, uint32 destinationDomain, bytes32 destinationTokenMessenger,
    bytes32 destinationCaller, uint256 maxFee, uint32 indexed minFinalityThreshold, bytes hookData)`,
  `event MintAndWithdraw(address indexed mintRecipient, uint256 amount, address indexed mintToken,
    uint256 feeCollected)`,
])
export const messageTransmitter = new Interface([
  'function receiveMessage(bytes message, bytes attestation) returns (bool)',
  'function usedNonces(bytes32 nonce) view returns (uint256)',
  'event MessageSent(bytes message)',
  `event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce,
    bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)`,
])

/** A threshold above the first one asks for finality. */
export const finalityThreshold: Record<BridgeSpeed, number> = { fast: 1_000, standard: 2_000 }

/** Anybody may mint. */
const ANY_CALLER = zeroPadValue('0x', 32)
const toBytes32 = (address: string) => zeroPadValue(address, 32)

export type BurnOrder = {
  wallet: string
  units: bigint
  maxFeeUnits: bigint
  destinationDomain: number
  speed: BridgeSpeed
}

/** The calls that burn the wallet's USDC in favour of the same address on another chain. */
export function encodeBurn({ usdc, cctp }: Chain, order: BurnOrder): Call[] {
  const { wallet, units, maxFeeUnits, destinationDomain, speed } = order
  const messenger = cctp.tokenMessenger
  return [
    encodeApprove(usdc.address, messenger, units),
    {
      to: messenger,
      data: tokenMessenger.encodeFunctionData('depositForBurn', [
        units,
        destinationDomain,
        toBytes32(wallet),
        usdc.address,
        ANY_CALLER,
        maxFeeUnits,
        finalityThreshold[speed],
      ]),
    },
  ]
}

/** The call that brings the money of an attested message out. Open to anyone, done once per nonce. */
export const encodeMint = (cctp: Cctp, message: string, attestation: string): Call => ({
  to: cctp.messageTransmitter,
  data: messageTransmitter.encodeFunctionData('receiveMessage', [message, attestation]),
})

/** What the attester fills in. */
const filledIn = ['nonce', 'finalityThresholdExecuted', 'feeExecuted', 'expirationBlock'] as const

/** True when an attested message is the one that a burn has sent. */
export function isSameMessage(sent: string, attested: string): boolean {
  if (dataLength(sent) !== dataLength(attested)) return false
  return blank(sent) === blank(attested)
}

function blank(message: string): string {
  return filledIn.reduce((text, field) => {
    const [start, size] = cctpFields[field]
    return text.slice(0, 2 + start * 2) + '0'.repeat(size * 2) + text.slice(2 + (start + size) * 2)
  }, message.toLowerCase())
}

/** The message and the base units of the burn among the logs of one operation. */
export function readBurn({ cctp }: Chain, wallet: string, logs: Log[]) {
  const burns = logs
    .filter((log) => isSameAddress(log.address, cctp.tokenMessenger))
    .map((log) => tokenMessenger.parseLog(log))
    .filter((event) => event?.name === 'DepositForBurn' && event.args.depositor === wallet)
  const sent = logs
    .filter((log) => isSameAddress(log.address, cctp.messageTransmitter))
    .map((log) => messageTransmitter.parseLog(log))
    .find((event) => event?.name === 'MessageSent')
  return {
    units: burns.reduce((sum, event) => sum + (event?.args.amount as bigint), 0n),
    message: sent?.args.message as string | undefined,
  }
}

/**
 * Base units that a mint brought to a wallet.
 *
 * @param logs - All logs of its transaction, which may receive other messages as well.
 * @param received - Its own MessageReceived log, which follows what the message did.
 */
export function mintedUnits({ cctp }: Chain, wallet: string, logs: Log[], received: Log): bigint {
  const before = logs.filter(({ logIndex }) => logIndex < received.logIndex)
  const previous = before.findLast((log) => log.topics[0] === received.topics[0])
  return before
    .filter((log) => log.logIndex > (previous?.logIndex ?? -1))
    .filter((log) => isSameAddress(log.address, cctp.tokenMessenger))
    .map((log) => tokenMessenger.parseLog(log))
    .filter((event) => event?.name === 'MintAndWithdraw' && event.args.mintRecipient === wallet)
    .reduce((sum, event) => sum + (event?.args.amount as bigint), 0n)
}
