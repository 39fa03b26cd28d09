/** Canonical chain names, in the order of listings. */
export const chainNames = ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'] as const
export type ChainName = (typeof chainNames)[number]

/** Tokens that a chain may list. */
export const tokenSymbols = ['USDC', 'TUSD'] as const
export type TokenSymbol = (typeof tokenSymbols)[number]

/** Lending protocols that a chain may list. */
export const protocols = ['aave-v3', 'compound-v3', 'erc4626'] as const
export type Protocol = (typeof protocols)[number]

/** The part of a setting's name that stands for a chain, e.g. `BASE_SEPOLIA`. */
export const variableSuffix = (name: ChainName) => name.toUpperCase().replaceAll('-', '_')
/** Name of the setting with a chain's RPC URL. */
export const rpcVariable = (name: ChainName) => `RPC_URL_${variableSuffix(name)}`

/** How a rollup charges data posted on L1: as gas, or by a separate fee. */
export type RollupKind = 'nitro' | 'op-stack'

/**
 * `domain`: the chain's number in CCTP, equal on test and main networks. `usdcName`: the name in the signing domain of
 * Circle's USDC; on main networks it is `USD Coin`.
 * @see https://developers.circle.com/cctp/cctp-supported-blockchains
 * @see https://github.com/coinbase/x402 typescript/packages/mechanisms/evm/src/shared/defaultAssets.ts
 */
export const chainFacts = {
  'ethereum-sepolia': { alias: 'ethereum', chainId: 11155111, domain: 0, usdcName: 'USDC' },
  'arbitrum-sepolia': { alias: 'arbitrum', chainId: 421614, domain: 3, usdcName: 'USD Coin' },
  'base-sepolia': { alias: 'base', chainId: 84532, domain: 6, usdcName: 'USDC' },
}

/** The canonical name of a chain, from its name or its alias in any case. */
export function findCanonicalName(text: string): ChainName | undefined {
  const typed = text.toLowerCase()
  return chainNames.find((name) => name === typed || chainFacts[name].alias === typed)
}

const namedFacts: Partial<Record<string, { alias: string }>> = chainFacts

/** The alias of a chain by its canonical name. The name itself for a chain that is no longer supported. */
export const aliasOf = (name: string): string => namedFacts[name]?.alias ?? name

export const GWEI = 1_000_000_000n

/** How a chain charges fees. `tipWei`: bounds of the tip that the node suggests. */
type Pricing = { rollup?: RollupKind; tipWei: { lowest: bigint; highest: bigint } }

/**
 * The lowest tips are sufficient in a quiet hour. Arbitrum orders by arrival and charges no tip. op-geth suggests at
 * least 0.001 gwei.
 * @see https://docs.arbitrum.io/how-arbitrum-works/deep-dives/gas-and-fees
 * @see https://github.com/ethereum-optimism/op-geth/blob/optimism/eth/gasprice/gasprice.go
 */
export const pricing: Record<ChainName, Pricing> = {
  'ethereum-sepolia': { tipWei: { lowest: GWEI / 100n, highest: 5n * GWEI } },
  'arbitrum-sepolia': { rollup: 'nitro', tipWei: { lowest: 0n, highest: 0n } },
  'base-sepolia': { rollup: 'op-stack', tipWei: { lowest: GWEI / 1_000n, highest: GWEI / 10n } },
}

/**
 * Ethereum finalizes within three epochs of 32 slots of 12 s. A rollup block is final with the Ethereum block that
 * holds its data, assumed to take half an hour: 7,200 blocks of 250 ms, 900 blocks of 2 s.
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
