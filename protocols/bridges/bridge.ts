import type { ChainClient } from '../../chains/connect.js'
import type { Log, LogFilter } from '../../chains/read.js'
import type { Chain } from '../../chains/registry.js'
import type { BridgeSpeed } from '../../domain/intent.js'
import type { Call } from '../../domain/operation.js'

/** A burn of the wallet's USDC in favour of the same address on another chain. */
export type BurnOrder = {
  wallet: string
  units: bigint
  maxFeeUnits: bigint
  destination: Chain
  speed: BridgeSpeed
}

/** What stands in the call of a burn, for the signer's policy to compare: contract, target and speed. */
export type BurnBounds = { contract: string; destinationDomain: number; finality: number }

/** What a message says that a burn has sent, or that was attested. */
export type BridgeMessage = {
  /** Its key on the destination, once it is attested. */
  nonce: string
  /** Whom the money is paid to. */
  recipient: string
  speed: BridgeSpeed
  /**
   * Block from which on it cannot be minted any more, by the number that contracts of the destination see;
   * zero for one that lasts.
   */
  expirationBlock: bigint
}

/** True when an attested message can no longer be minted at this block, as contracts of its destination see it. */
export const isExpired = ({ expirationBlock }: BridgeMessage, block: bigint): boolean =>
  expirationBlock !== 0n && block >= expirationBlock

/**
 * What the service needs of a bridge that burns money on one chain and, once that is attested, mints it on
 * another one, each message once. Nothing here signs or sends.
 */
export type Bridge = {
  /** What plans call it. */
  protocol: string
  /** The most base units that one burn may move. */
  maxUnits: bigint
  /** The chain's number in the bridge. */
  domainOf(chain: Chain): number
  /** What it usually takes until a burn of the chain is attested, seconds. */
  usualSeconds(source: Chain, speed: BridgeSpeed): [lower: number, upper: number]

  encodeBurn(source: Chain, order: BurnOrder): Call[]
  burnBounds(source: Chain, order: BurnOrder): BurnBounds
  /** Base units that the logs of one operation show as burned by the wallet, and the message of it. */
  readBurn(
    source: Chain,
    wallet: string,
    logs: Log[],
  ): { units: bigint; message?: string | undefined }

  /** @throws {ServiceError} INTERNAL when the bytes are no message of the bridge. */
  readMessage(message: string): BridgeMessage
  /** True when an attested message is the one that a burn has sent, but for what the attester fills in. */
  isSameMessage(sent: string, attested: string): boolean
  /** True when a message is for the bridge's own contract on a chain. */
  leadsTo(destination: Chain, message: string): boolean

  /** The call that brings the money of an attested message out. Open to anyone. */
  encodeMint(destination: Chain, attested: { message: string; attestation: string }): Call
  isMinted(client: ChainClient, nonce: string): Promise<boolean>
  /** The logs of mints on a chain; with a nonce, that of its own alone. The first topic tells what a log is. */
  mintLogs(destination: Chain, nonce?: string): LogFilter
  /** The nonce that a log says was minted, undefined for a log that only looks like one of a mint. */
  readMint(destination: Chain, log: Log): string | undefined
  /** Base units that a mint brought to a wallet. */
  mintedUnits(destination: Chain, wallet: string, mint: MintReceipt): bigint
}

/** All logs of a transaction that mints, maybe for several messages, and that of the mint in question. */
export type MintReceipt = { logs: Log[]; minted: Log }

/** A message as the attestation service knows it. Without `attestation` it is not attested yet. */
export type AttestedMessage = {
  eventNonce: string
  message: string | undefined
  attestation: string | undefined
  /** Why it takes longer than asked for, in the service's own words. */
  delayReason: string | undefined
}

/** What the ways from one chain to another cost, in millionths of the amount; a way that is not offered is absent. */
export type BridgeFees = Partial<Record<BridgeSpeed, bigint>>

/**
 * The service of a bridge, which bounds how often it is asked: what is asked too early waits. All of it throws
 * NETWORK_ERROR when the service does not answer, or answers what nobody can read; with `retryAfter`, seconds,
 * when it wants to be left alone. It is not asked then.
 */
export type Attestations = {
  bridge: Bridge
  /** Until a question would go out at once, ms. */
  restMs(): number
  /** What the ways from one chain to another cost now; none where the service knows of none. */
  readFees(from: Chain, to: Chain): Promise<BridgeFees>
  /** The messages of a burn transaction; none until the service has seen it. */
  readMessages(sourceDomain: number, txHash: string): Promise<AttestedMessage[]>
  /** Asks for a new attestation of a message that has expired; false when the service refuses to make one. */
  reattest(nonce: string): Promise<boolean>
}
