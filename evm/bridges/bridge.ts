import type { ChainClient } from '../connect.js'
import type { EventLog, LogFilter } from '../read.js'
import type { Chain } from '../registry.js'
import type { BridgeSpeed } from '../../domain/intent/intent.js'
import type { Call } from '../../domain/intent/operation.js'

/** A burn of the wallet's USDC, to be minted for the same address on another chain. */
export type BurnOrder = {
  wallet: string
  units: bigint
  maxFeeUnits: bigint
  destination: Chain
  speed: BridgeSpeed
}

/** Values in a burn's call that the signer's policy compares: contract, destination and finality. */
export type BurnBounds = { contract: string; destinationDomain: number; finality: number }

/** The content of a message, as sent by a burn or as attested. */
export type BridgeMessage = {
  /** Its key on the destination; set by the attestation. */
  nonce: string
  /** The account that receives the money. */
  recipient: string
  /** Burned base units. The bridge keeps its fee. */
  units: bigint
  speed: BridgeSpeed
  /** Block from which it cannot be minted, by `block.number` in the destination's contracts; 0: it never expires. */
  expirationBlock: bigint
}

/** True when an attested message cannot be minted at `block`, by `block.number` in the destination's contracts. */
export const isExpired = ({ expirationBlock }: BridgeMessage, block: bigint): boolean =>
  expirationBlock !== 0n && block >= expirationBlock

/**
 * The interface of a bridge that burns money on one chain and mints it on another one after an attestation, once per
 * message. Nothing here signs or sends.
 */
export type Bridge = {
  /** The bridge's name in plans. */
  protocol: string
  /** Highest amount of one burn, base units. */
  maxUnits: bigint
  /** The chain's number in the bridge. */
  domainOf(chain: Chain): number
  /** Usual time from a burn to its attestation, seconds. */
  usualSeconds(source: Chain, speed: BridgeSpeed): [lower: number, upper: number]

  encodeBurn(source: Chain, order: BurnOrder): Call[]
  burnBounds(source: Chain, order: BurnOrder): BurnBounds
  /** The burned base units of the wallet, and the message, in the logs of one operation. */
  readBurn(
    source: Chain,
    wallet: string,
    logs: EventLog[],
  ): { units: bigint; message?: string | undefined }

  /** @throws {ServiceError} INTERNAL when the bytes are not a message of the bridge. */
  readMessage(message: string): BridgeMessage
  /** True when an attested message equals a sent one, except for the fields that the attestation sets. */
  isSameMessage(sent: string, attested: string): boolean
  /** True when a message is addressed to the bridge's own contract on a chain. */
  leadsTo(destination: Chain, message: string): boolean

  /** The call that mints the money of an attested message. Any account may call it. */
  encodeMint(destination: Chain, attested: { message: string; attestation: string }): Call
  isMinted(client: ChainClient, nonce: string): Promise<boolean>
  /** A filter for mints on a chain, or for the mint of one nonce. The first topic identifies the event. */
  mintLogs(destination: Chain, nonce?: string): LogFilter
  /** The minted nonce of a log; undefined for other logs. */
  readMint(destination: Chain, log: EventLog): string | undefined
  /** Base units that a mint paid to a wallet. */
  mintedUnits(destination: Chain, wallet: string, mint: MintReceipt): bigint
}

/** All logs of a minting transaction, which may mint several messages, and the log of one mint. */
export type MintReceipt = { logs: EventLog[]; minted: EventLog }

/** A message in the attestation service. Without `attestation` it is not attested yet. */
export type AttestedMessage = {
  eventNonce: string
  message: string | undefined
  attestation: string | undefined
  /** Why the attestation is slower than requested, in the service's own words. */
  delayReason: string | undefined
}

/** Fees from one chain to another by speed, in millionths of the amount. A speed that is not offered is absent. */
export type BridgeFees = Partial<Record<BridgeSpeed, bigint>>

/**
 * The attestation service of a bridge. Requests are rate-limited: early ones wait. Each method throws NETWORK_ERROR
 * when the service does not answer or answers garbage. After a 429 the error has `retryAfter`, seconds, and no request
 * is sent until then.
 */
export type Attestations = {
  bridge: Bridge
  /** Milliseconds until a request would be sent at once. */
  restMs(): number
  /** Current fees from one chain to another; empty when the service has none. */
  readFees(from: Chain, to: Chain): Promise<BridgeFees>
  /** The messages of a burn transaction; empty until the service has seen it. */
  readMessages(sourceDomain: number, txHash: string): Promise<AttestedMessage[]>
  /** Requests a new attestation of an expired message; false when the service rejects the request. */
  reattest(nonce: string): Promise<boolean>
}
