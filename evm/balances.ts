import { Interface } from 'ethers'
import { MULTICALL_ADDRESS } from './calls/multicall.js'
import { readEthPrice } from './prices.js'
import { readBalance, readContract, type BlockRef } from './read.js'
import { tokensOf } from './registry.js'
import type { ChainClient } from './connect.js'

/** Units are base units of the token; `priceE8` is USD per whole token with 8 decimals. */
export type Holding = { asset: string; units: bigint; decimals: number; priceE8: bigint }

const native = new Interface(['function getEthBalance(address) view returns (uint256)'])

/** USDC and the USD tokens that it is swapped for count as 1 USD. */
const DOLLAR_PRICE_E8 = 100_000_000n

/** Wei of an account at a block; the latest by default. Batched with other contract reads. */
export async function readEthBalance(
  client: ChainClient,
  { owner, block = 'latest' }: { owner: string; block?: BlockRef },
): Promise<bigint> {
  const call = { to: MULTICALL_ADDRESS, abi: native, name: 'getEthBalance', args: [owner], block }
  const [wei] = await readContract(client, call)
  return wei as bigint
}

/** Balances of USDC, other listed tokens and ETH at the head of a chain. Zero balances are omitted. */
export async function readHoldings(client: ChainClient, owner: string): Promise<Holding[]> {
  const tokens = tokensOf(client.chain)
  const [wei, amounts] = await Promise.all([
    readEthBalance(client, { owner }),
    Promise.all(tokens.map(({ address }) => readBalance(client, { token: address, owner }))),
  ])
  // Wallets need no ETH: the price is read only for those that received some.
  const ethPrice = wei > 0n ? await readEthPrice(client) : 0n
  const holdings = [
    ...tokens.map(({ symbol, decimals }, i) => {
      return { asset: symbol, units: amounts[i] ?? 0n, decimals, priceE8: DOLLAR_PRICE_E8 }
    }),
    { asset: 'ETH', units: wei, decimals: 18, priceE8: ethPrice },
  ]
  return holdings.filter((holding) => holding.units > 0n)
}
