import { variableSuffix, type ChainName } from '../../evm/registry.js'

/** Properties of a devnet chain and of lending on it. */
export type Terms = {
  /** Default port of its node. `portVariable` overrides it. */
  port: number
  /** Seconds between blocks, close to the public network but at most one. */
  blockSeconds: number
  /** Wei per unit of gas, before tips. Fixed, because it would fall to zero on an idle chain. */
  baseFeeWei: bigint
  /** The dollar token that Aave lists in addition to WETH. */
  aaveAsset: 'usdc' | 'testDollar'
  /** Dollars borrowed of `suppliedDollars` there, and interest in percent. */
  borrowed: string
  base: number
  slope1: number
  /** Additional contracts. A test dollar comes with a pool that swaps it against USDC. */
  extras: ('testDollar' | 'comet' | 'vault')[]
}

/**
 * Base fees are typical of the main networks: about one gwei, and close to the minimum fees of Arbitrum One and Base.
 * @see https://docs.arbitrum.io/build-decentralized-apps/reference/chain-params
 * @see https://docs.base.org/base-chain/network-information/network-fees
 *
 * Supply APYs: 1.52, 3.51 and 4.12 % in Aave, 1.25 % in the Comet, and nine tenths of Aave's in the vault. The best
 * rate is on another chain than the test money, so that a lend shows a bridge. As on the public testnet, Aave on
 * `ethereum-sepolia` lists another dollar than Circle's.
 */
export const devnetTerms: Record<ChainName, Terms> = {
  'ethereum-sepolia': {
    port: 8545,
    blockSeconds: 1,
    baseFeeWei: 1_000_000_000n,
    aaveAsset: 'testDollar',
    borrowed: '620000',
    base: 0,
    slope1: 4,
    extras: ['testDollar', 'comet'],
  },
  'arbitrum-sepolia': {
    port: 8546,
    blockSeconds: 0.25,
    baseFeeWei: 20_000_000n,
    aaveAsset: 'usdc',
    borrowed: '800000',
    base: 0,
    slope1: 5.5,
    extras: [],
  },
  'base-sepolia': {
    port: 8547,
    blockSeconds: 1,
    baseFeeWei: 5_000_000n,
    aaveAsset: 'usdc',
    borrowed: '750000',
    base: 1.5,
    slope1: 5.5,
    extras: ['vault'],
  },
}

/** Name of the variable that sets the port of a chain's node. */
export const portVariable = (name: ChainName) => `ANVIL_PORT_${variableSuffix(name)}`
