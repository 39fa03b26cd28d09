import { Interface } from 'ethers'
import { multicallAddress, readMany } from './multicall.js'
import { readEthPrice } from './prices.js'
import { erc20 } from './read.js'
import type { ChainClient } from './connect.js'

/** Units are base units of the token; `priceE8` is USD per whole token with 8 decimals. */
export type Holding = { asset: string; units: bigint; decimals: number; priceE8: bigint }

const native = new Interface(['function getEthBalance(address) view returns (uint256)'])

/** USDC is taken as one dollar. */
const USDC_PRICE_E8 = 100_000_000n

/** What an address holds of USDC and ETH at the head of a chain, without what it holds nothing of. */
export async function readHoldings(client: ChainClient, owner: string): Promise<Holding[]> {
  const { usdc } = client.chain
  const [token, coin] = await readMany(client, [
    { to: usdc.address, abi: erc20, name: 'balanceOf', parameters: [owner] },
    { to: multicallAddress, abi: native, name: 'getEthBalance', parameters: [owner] },
  ])
  const units = token?.[0] as bigint
  const wei = coin?.[0] as bigint
  // Wallets of the service need no ETH: the price is asked for only where somebody has sent some.
  const ethPrice = wei > 0n ? await readEthPrice(client) : 0n
  const holdings = [
    { asset: usdc.symbol, units, decimals: usdc.decimals, priceE8: USDC_PRICE_E8 },
    { asset: 'ETH', units: wei, decimals: 18, priceE8: ethPrice },
  ]
  return holdings.filter((holding) => holding.units > 0n)
}
