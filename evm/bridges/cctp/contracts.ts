import { Interface, zeroPadValue } from 'ethers'
import { isSameAddress } from '../../address.js'
import { readContract, type EventLog, type LogFilter } from '../../read.js'
import { encodeApprove } from '../../calls/approve.js'
import { sumEvents, topicOf } from '../../logs/events.js'
import { finalityThreshold } from './speed.js'
import type { ChainClient } from '../../connect.js'
import type { Chain } from '../../registry.js'
import type { Call } from '../../../domain/intent/operation.js'
import type { BurnBounds, BurnOrder, MintReceipt } from '../bridge.js'

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
const messageTransmitter = new Interface([
  'function receiveMessage(bytes message, bytes attestation) returns (bool)',
  'function usedNonces(bytes32 nonce) view returns (uint256)',
  'event MessageSent(bytes message)',
  `event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce,
    bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)`,
])

const MINT_TOPIC = topicOf(messageTransmitter, 'MessageReceived')
const SENT_TOPIC = topicOf(messageTransmitter, 'MessageSent')

/** `destinationCaller` that lets any account mint. */
const ANY_CALLER = zeroPadValue('0x', 32)
const toBytes32 = (address: string) => zeroPadValue(address, 32)

export function encodeBurn({ usdc, cctp }: Chain, order: BurnOrder): Call[] {
  const { wallet, units, maxFeeUnits, destination, speed } = order
  const messenger = cctp.tokenMessenger
  return [
    encodeApprove(usdc.address, messenger, units),
    {
      to: messenger,
      data: tokenMessenger.encodeFunctionData('depositForBurn', [
        units,
        destination.cctp.domain,
        toBytes32(wallet),
        usdc.address,
        ANY_CALLER,
        maxFeeUnits,
        finalityThreshold[speed],
      ]),
    },
  ]
}

export const burnBounds = ({ cctp }: Chain, { destination, speed }: BurnOrder): BurnBounds => ({
  contract: cctp.tokenMessenger,
  destinationDomain: destination.cctp.domain,
  finality: finalityThreshold[speed],
})

export const encodeMint = (
  { cctp }: Chain,
  { message, attestation }: { message: string; attestation: string },
): Call => ({
  to: cctp.messageTransmitter,
  data: messageTransmitter.encodeFunctionData('receiveMessage', [message, attestation]),
})

export async function isMinted(client: ChainClient, nonce: string): Promise<boolean> {
  const { messageTransmitter: to } = client.chain.cctp
  const call = { to, abi: messageTransmitter, name: 'usedNonces', args: [nonce] }
  const [used] = await readContract(client, call)
  return used !== 0n
}

/** The nonce is the third topic, after the caller. */
export const mintLogs = ({ cctp }: Chain, nonce?: string): LogFilter => ({
  emitters: [cctp.messageTransmitter],
  topics: nonce === undefined ? [[MINT_TOPIC]] : [[MINT_TOPIC], null, [nonce]],
})

export function readMint({ cctp }: Chain, log: EventLog): string | undefined {
  if (log.topics[0] !== MINT_TOPIC) return undefined
  if (!isSameAddress(log.address, cctp.messageTransmitter)) return undefined
  return log.topics[2]?.toLowerCase()
}

export function readBurn({ cctp }: Chain, wallet: string, logs: EventLog[]) {
  const units = sumEvents(tokenMessenger, logs, {
    ...{ name: 'DepositForBurn', emitter: cctp.tokenMessenger },
    ...{ where: { depositor: wallet }, unitsIn: 'amount' },
  })
  const sent = logs.find(
    ({ topics, address }) =>
      topics[0] === SENT_TOPIC && isSameAddress(address, cctp.messageTransmitter),
  )
  const message = sent && (messageTransmitter.parseLog(sent)?.args.message as string | undefined)
  return { units, message }
}

/** `MessageReceived` follows the logs of the message's effects. */
export function mintedUnits(
  { cctp }: Chain,
  wallet: string,
  { logs, minted }: MintReceipt,
): bigint {
  const before = logs.filter(({ logIndex }) => logIndex < minted.logIndex)
  const previous = before.findLast((log) => log.topics[0] === MINT_TOPIC)
  const own = before.filter((log) => log.logIndex > (previous?.logIndex ?? -1))
  return sumEvents(tokenMessenger, own, {
    ...{ name: 'MintAndWithdraw', emitter: cctp.tokenMessenger },
    ...{ where: { mintRecipient: wallet }, unitsIn: 'amount' },
  })
}
