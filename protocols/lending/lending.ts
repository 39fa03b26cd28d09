import type { ChainClient } from '../../chains/connect.js'
import type { BlockRef, Log } from '../../chains/read.js'
import type { Market } from '../../chains/registry.js'
import type { Call } from '../../domain/operation.js'

/**
 * How much to take out: base units of the underlying, or everything. Everything is told by the
 * wallet's whole balance of the receipt token, for a vault knows no other word for it: base units
 * grow while a transaction is under way.
 */
export type Withdrawal = { units: bigint } | { receiptUnits: bigint }

/** What the service needs of a lending protocol. Nothing here signs or sends. */
export type LendingProtocol = {
  /** Supply APY in percent, at the head of the chain. */
  readApy(client: ChainClient, market: Market): Promise<number>
  /** Base units of the underlying that the market takes in at the head of the chain, 0 while it is closed. */
  readRoom(client: ChainClient, market: Market): Promise<bigint>
  /** Base units of the underlying that belong to the wallet at a block, interest included. */
  readPosition(
    client: ChainClient,
    market: Market,
    at: { wallet: string; block: BlockRef },
  ): Promise<bigint>
  /**
   * Base units of the underlying that the market can pay out to the wallet at the head of the
   * chain. Below its position when most is borrowed, zero when the market is paused; it may be
   * above it.
   */
  readLiquidity(client: ChainClient, market: Market, wallet: string): Promise<bigint>
  /** The calls that move `units` base units of the underlying from the wallet into the market. */
  encodeDeposit(market: Market, wallet: string, units: bigint): Call[]
  /** The calls that move the underlying from the market back into the wallet. */
  encodeWithdraw(market: Market, wallet: string, withdrawal: Withdrawal): Call[]
  /** Base units that the logs of one operation show as deposited by the wallet for itself. */
  depositedUnits(market: Market, wallet: string, logs: Log[]): bigint
  /** Base units that the logs of one operation show as withdrawn by the wallet for itself. */
  withdrawnUnits(market: Market, wallet: string, logs: Log[]): bigint
}
