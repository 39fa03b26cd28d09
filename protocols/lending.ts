import type { ChainClient } from '../chains/connect.js'
import type { BlockRef, Log } from '../chains/read.js'
import type { Market } from '../chains/registry.js'
import type { Call } from '../domain/operation.js'

/** What the service needs of a lending protocol. Nothing here signs or sends. */
export type LendingProtocol = {
  /** Supply APY in percent, at the head of the chain. */
  readApy(client: ChainClient, market: Market): Promise<number>
  /** Base units of the underlying that the wallet could take out at a block, interest included. */
  readPosition(
    client: ChainClient,
    market: Market,
    wallet: string,
    block: BlockRef,
  ): Promise<bigint>
  /** The calls that move `units` base units of the underlying from the wallet into the market. */
  encodeDeposit(market: Market, wallet: string, units: bigint): Call[]
  /** Base units that the logs of one operation show as deposited for the wallet. */
  depositedUnits(market: Market, wallet: string, logs: Log[]): bigint
}
