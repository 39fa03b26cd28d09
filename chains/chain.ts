import type { BridgeSpeed } from '../domain/intent.js'
import type { Vault } from './addresses.js'
import type { ChainName, RollupKind } from './facts.js'

/**
 * An ERC-20 token. `worth`: what one whole token is a promise of; tokens of the same worth are swapped at parity.
 * `eip712` are the name and version of its signing domain (EIP-2612, EIP-3009).
 */
export type Token = {
  symbol: string
  address: string
  decimals: number
  worth: 'USD'
  eip712: { name: string; version: string }
}

/** A lending market: what can be deposited where. `receiptToken` is what the depositor gets. */
export type Market = {
  protocol: 'aave-v3' | 'erc4626' | 'compound-v3'
  address: string
  underlying: string
  receiptToken: string
  /** Of a vault: the market of Aave in which it lends what it holds. */
  lendsTo?: Vault['lendsTo']
  /** Listed without being known to be there: offered where the probe finds it. */
  isCandidate?: true
}

/** Circle's bridge: the chain's number in it, and what an attestation of its burns takes, seconds. */
export type Cctp = {
  domain: number
  tokenMessenger: string
  messageTransmitter: string
  seconds: Record<BridgeSpeed, [lower: number, upper: number]>
}

/** The pool of two tokens, by their symbols in any order; `fee` is its tier in millionths. */
export type SwapPool = { tokens: [string, string]; fee: number }

export type Chain = {
  name: ChainName
  alias: string
  chainId: number
  usdc: Token
  /** Tokens beside USDC that a market takes. */
  otherTokens: Token[]
  markets: Market[]
  cctp: Cctp
  /** Uniswap v3 with QuoterV2 and SwapRouter02, and the one pool of each pair that is traded in. */
  uniswap?: { factory: string; quoter: string; router: string; pools: SwapPool[] }
  ethUsdFeed: string
  /** Blocks on top of and including an operation's own before it counts as confirmed. */
  confirmations: number
  /** Blocks below the head that count as final at a node which does not tell. */
  finalityBlocks: number
  /** How often the driver asks for a new head while it waits for something that was sent: a share of the block time. */
  pollMs: number
  /** A transaction that is not mined so long after it was sent, and so many blocks later, is replaced. */
  stuckAfter: { seconds: number; blocks: number }
  /** What a step usually takes here from its start to its confirmation, seconds. */
  stepSeconds: [lower: number, upper: number]
  /** How data that it posts on L1 is paid: as gas, or by a fee of its own. Absent: it is no rollup. */
  rollup?: RollupKind
  /** Where people look at its transactions, without a slash at the end. Absent: nowhere. */
  explorer?: string
  /** Between these the tip is what the node suggests; and the highest total fee per gas the signer accepts, wei. */
  tipWei: { lowest: bigint; highest: bigint }
  maxFeeCapWei: bigint
}
