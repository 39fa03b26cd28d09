import { variableSuffix, type ChainName } from '../../evm/registry.js'

/** What a chain of the devnet is like, and lending on it. */
export type Terms = {
  /** Where its node listens unless `portVariable` says otherwise. */
  port: number
  /** Seconds between blocks, close to those of the public network but never above one. */
  blockSeconds: number
  /** Wei per unit of gas, before tips. Kept: on an idle chain it would fall to nothing. */
  baseFeeWei: bigint
  /** The dollar that Aave lists beside WETH. */
  aaveAsset: 'usdc' | 'testDollar'
  /** Dollars borrowed of `suppliedDollars` there, and interest in percent. */
  borrowed: string
  base: number
  slope1: number
  /** What there is besides. A test dollar comes with a pool that changes USDC into it. */
  extras: ('testDollar' | 'comet' | 'vault')[]
}

/**
 * Base fees are those usual on the main networks: about a gwei, the floors of Arbitrum One and about Base's.
 * @see https://docs.arbitrum.io/build-decentralized-apps/reference/chain-params
 * @see https://docs.base.org/base-chain/network-information/network-fees
 *
 * Supply APYs of 1.52, 3.51 and 4.12 % in Aave, 1.25 % in the Comet, nine tenths of Aave's in the vault. The
 * best one is on another chain than test money comes to, so that lending shows a bridge. As on the public
 * testnet Aave lists another dollar than Circle's on `ethereum-sepolia`.
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

/** Name of the variable that puts a chain's node on another port. */
export const portVariable = (name: ChainName) => `ANVIL_PORT_${variableSuffix(name)}`
