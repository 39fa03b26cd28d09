import type { ChainClient } from '../connect.js'
import type { BlockRef, EventLog } from '../read.js'
import type { Market } from '../registry.js'
import type { Call } from '../../domain/intent/operation.js'

/**
 * Amount of a withdrawal: base units of the underlying, or the whole balance of the receipt token for a full
 * withdrawal. Base units would be outdated by interest when the transaction is included, and a vault has no other way
 * to express a full withdrawal.
 */
export type Withdrawal = { units: bigint } | { receiptUnits: bigint }

export type Direction = 'deposit' | 'withdraw'

type DepositPreview = { heldShares: bigint; addedShares: bigint; worthUnits: bigint }

/** The interface of a lending protocol. Nothing here signs or sends. */
export type LendingProtocol = {
  /** Supply APY in percent at a block; the latest by default. */
  readApy(client: ChainClient, market: Market, block?: BlockRef): Promise<number>
  /** Base units of the underlying that the market accepts at a block, the latest by default; 0 while it is closed. */
  readCapacity(client: ChainClient, market: Market, block?: BlockRef): Promise<bigint>
  /**
   * Base units of the underlying that the market can pay out at a block to all lenders together, 0 while it is closed;
   * undefined when it reports this per lender only.
   */
  readCash(client: ChainClient, market: Market, block: BlockRef): Promise<bigint | undefined>
  /** Base units of the underlying that all lenders together have lent; undefined where `readCash` is. */
  readSupplied(client: ChainClient, market: Market, block: BlockRef): Promise<bigint | undefined>
  /** True when deposits or withdrawals are closed by the market's operators; not when it is full or empty. */
  isClosed(
    client: ChainClient,
    market: Market,
    at: { direction: Direction; block: BlockRef },
  ): Promise<boolean>
  /** The wallet's position in base units of the underlying at a block, interest included. */
  readPosition(
    client: ChainClient,
    market: Market,
    at: { wallet: string; block: BlockRef },
  ): Promise<bigint>
  /**
   * Base units of the underlying that the market can pay out to the wallet at a block. Lower than its position when
   * most is borrowed, 0 when the market is paused. It may exceed the position.
   */
  readLiquidity(
    client: ChainClient,
    market: Market,
    at: { wallet: string; block: BlockRef },
  ): Promise<bigint>
  /**
   * Base units of the underlying that `SHARE_SCALE` shares are worth at a block, however many a wallet holds. Shares are
   * the part of a position that does not grow: interest raises their price.
   */
  readSharePrice(client: ChainClient, market: Market, block: BlockRef): Promise<bigint>
  /** The calls that move `units` base units of the underlying from the wallet into the market. */
  encodeDeposit(market: Market, wallet: string, units: bigint): Call[]
  /**
   * Only of a market that credits shares, whose `deposit` has no minimum: the shares that the wallet holds at a block,
   * those that a deposit would add, and the base units of the underlying that these are worth.
   */
  previewDeposit?(
    client: ChainClient,
    market: Market,
    deposit: { wallet: string; units: bigint; block: BlockRef },
  ): Promise<DepositPreview>
  /** Only where `previewDeposit` is: a call that moves nothing, and reverts while the wallet holds fewer shares. */
  encodeLeastShares?(market: Market, wallet: string, shares: bigint): Call
  /** The calls that move the underlying from the market back into the wallet. */
  encodeWithdraw(market: Market, wallet: string, withdrawal: Withdrawal): Call[]
  /** Base units that the wallet deposited for itself, in the logs of one operation. */
  depositedUnits(market: Market, wallet: string, logs: EventLog[]): bigint
  /** Base units that the wallet withdrew for itself, in the logs of one operation. */
  withdrawnUnits(market: Market, wallet: string, logs: EventLog[]): bigint
}
