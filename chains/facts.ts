/** Canonical chain names, in the order in which answers list them. */
export const chainNames = ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'] as const
export type ChainName = (typeof chainNames)[number]

/** The part of a variable's name that stands for a chain, e.g. `BASE_SEPOLIA`. */
export const variableSuffix = (name: ChainName) => name.toUpperCase().replaceAll('-', '_')
/** Name of the variable that says where a chain's node is. */
export const rpcVariable = (name: ChainName) => `RPC_URL_${variableSuffix(name)}`

/** How data that a rollup posts on L1 is paid: as gas, or by a fee of its own. */
export type RollupKind = 'nitro' | 'op-stack'

/**
 * `domain` is the number of the chain in CCTP, the same on test and main networks. `usdcName` is the name in
 * the signing domain of Circle's USDC there; on main networks it is `USD Coin`.
 * @see https://developers.circle.com/cctp/cctp-supported-blockchains
 * @see https://github.com/coinbase/x402 typescript/packages/mechanisms/evm/src/shared/defaultAssets.ts
 */
export const chainFacts = {
  'ethereum-sepolia': { alias: 'ethereum', chainId: 11155111, domain: 0, usdcName: 'USDC' },
  'arbitrum-sepolia': { alias: 'arbitrum', chainId: 421614, domain: 3, usdcName: 'USD Coin' },
  'base-sepolia': { alias: 'base', chainId: 84532, domain: 6, usdcName: 'USDC' },
}

export const GWEI = 1_000_000_000n

/** How a chain takes fees. `tipWei`: between these the tip is what the node suggests. */
type Pricing = { rollup?: RollupKind; tipWei: { lowest: bigint; highest: bigint } }

/**
 * Lowest tips are what passes in a quiet hour. Arbitrum serves in the order of arrival and takes no tip;
 * op-geth suggests 0.001 gwei at least.
 * @see https://docs.arbitrum.io/how-arbitrum-works/deep-dives/gas-and-fees
 * @see https://github.com/ethereum-optimism/op-geth/blob/optimism/eth/gasprice/gasprice.go
 */
export const pricing: Record<ChainName, Pricing> = {
  'ethereum-sepolia': { tipWei: { lowest: GWEI / 100n, highest: 5n * GWEI } },
  'arbitrum-sepolia': { rollup: 'nitro', tipWei: { lowest: 0n, highest: 0n } },
  'base-sepolia': { rollup: 'op-stack', tipWei: { lowest: GWEI / 1_000n, highest: GWEI / 10n } },
}

/**
 * Ethereum finalizes within three epochs of 32 slots of 12 s; a rollup is final with the block of
 * Ethereum that holds its data, which we take to be half an hour: 7,200 blocks of 250 ms, 900 of 2 s.
 * @see https://ethereum.org/developers/docs/consensus-mechanisms/pos/#finality
 */
export const finalityBlocks: Record<ChainName, number> = {
  'ethereum-sepolia': 96,
  'arbitrum-sepolia': 7_200,
  'base-sepolia': 900,
}

/**
 * @see https://sepolia.etherscan.io
 * @see https://sepolia.arbiscan.io
 * @see https://sepolia.basescan.org
 */
export const testnetExplorers: Record<ChainName, string> = {
  'ethereum-sepolia': 'https://sepolia.etherscan.io',
  'arbitrum-sepolia': 'https://sepolia.arbiscan.io',
  'base-sepolia': 'https://sepolia.basescan.org',
}
