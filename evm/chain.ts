import type { BridgeSpeed } from '../domain/intent/intent.js'
import type { Vault } from './addresses.js'
import type { ChainName, Protocol, RollupKind, TokenSymbol } from './facts.js'

/**
 * An ERC-20 token. `worth`: the currency of one whole token; tokens of equal worth are swapped at parity. `eip712`:
 * name and version of its signing domain (EIP-2612, EIP-3009).
 */
export type Token = {
  symbol: TokenSymbol
  address: string
  decimals: number
  worth: 'USD'
  eip712: { name: string; version: string }
}

/** A lending market. `receiptToken`: the token that the depositor receives. */
export type Market = {
  protocol: Protocol
  address: string
  underlying: string
  receiptToken: string
  /** Of a vault: the Aave market in which it lends its assets. */
  lendsTo?: Vault['lendsTo']
  /** Not known to be deployed: offered only where the probe finds it. */
  isCandidate?: true
}

/** Circle's bridge: the chain's domain, its contracts, and the attestation time of its burns in seconds. */
export type Cctp = {
  domain: number
  tokenMessenger: string
  messageTransmitter: string
  seconds: Record<BridgeSpeed, [lower: number, upper: number]>
}

/** The pool of two tokens, by symbol in any order. `fee`: its tier in millionths. */
export type SwapPool = { tokens: [string, string]; fee: number }

export type Chain = {
  name: ChainName
  alias: string
  chainId: number
  usdc: Token
  /** Tokens other than USDC that a market accepts. */
  otherTokens: Token[]
  markets: Market[]
  cctp: Cctp
  /** Uniswap v3 with QuoterV2 and SwapRouter02, and the one pool of each pair. */
  uniswap?: { factory: string; quoter: string; router: string; pools: SwapPool[] }
  ethUsdFeed: string
  /** Absent: USDC counts as one USD. */
  usdcUsdFeed?: string | undefined
  /** Blocks required for a confirmation, including the operation's own block. */
  confirmations: number
  /** Blocks below the head that count as final on a node without the tag `finalized`. */
  finalityBlocks: number
  /** Poll interval of the head while a sent transaction is open, ms: a fraction of the block time. */
  pollMs: number
  /** Poll interval of the head while nothing is open, ms. */
  idlePollMs: number
  /** A transaction that is unmined for this time and this many blocks after it was sent is replaced. */
  stuckAfter: { seconds: number; blocks: number }
  /** Usual duration of a step from its start to its confirmation, seconds. */
  stepSeconds: [lower: number, upper: number]
  /** How a rollup charges data posted on L1: as gas, or by a separate fee. Absent: not a rollup. */
  rollup?: RollupKind
  /** URL of the block explorer, without a trailing slash. Absent: none. */
  explorer?: string
  /** Bounds of the tip that the node suggests, wei. */
  tipWei: { lowest: bigint; highest: bigint }
  /** Highest total fee per gas that the signer accepts, wei. */
  maxFeeCapWei: bigint
}
