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

export type Direction = 'deposit' | 'withdraw'

/** What the service needs of a lending protocol. Nothing here signs or sends. */
export type LendingProtocol = {
  /** Supply APY in percent at a block, the latest one unless told. */
  readApy(client: ChainClient, market: Market, block?: BlockRef): Promise<number>
  /** Base units of the underlying that the market takes in at a block, the latest one unless told; 0 while it is closed. */
  readRoom(client: ChainClient, market: Market, block?: BlockRef): Promise<bigint>
  /**
   * Base units of the underlying that the market can pay out at a block to all its lenders together, 0 while it is
   * closed; undefined where it tells only what each of them could take out.
   */
  readCash(client: ChainClient, market: Market, block: BlockRef): Promise<bigint | undefined>
  /** True when the market takes nothing in, or pays nothing out, because somebody has closed it: not because it is full or empty. */
  isClosed(
    client: ChainClient,
    market: Market,
    at: { direction: Direction; block: BlockRef },
  ): Promise<boolean>
  /** Base units of the underlying that belong to the wallet at a block, interest included. */
  readPosition(
    client: ChainClient,
    market: Market,
    at: { wallet: string; block: BlockRef },
  ): Promise<bigint>
  /**
   * Base units of the underlying that the market can pay out to the wallet at a block. Below its
   * position when most is borrowed, zero when the market is paused; it may be above it.
   */
  readLiquidity(
    client: ChainClient,
    market: Market,
    at: { wallet: string; block: BlockRef },
  ): Promise<bigint>
  /** The calls that move `units` base units of the underlying from the wallet into the market. */
  encodeDeposit(market: Market, wallet: string, units: bigint): Call[]
  /** The calls that move the underlying from the market back into the wallet. */
  encodeWithdraw(market: Market, wallet: string, withdrawal: Withdrawal): Call[]
  /** Base units that the logs of one operation show as deposited by the wallet for itself. */
  depositedUnits(market: Market, wallet: string, logs: Log[]): bigint
  /** Base units that the logs of one operation show as withdrawn by the wallet for itself. */
  withdrawnUnits(market: Market, wallet: string, logs: Log[]): bigint
}
