import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { ServiceError, invalidRequest } from '../domain/errors.js'
import { testnetCctp, testnetContracts, type Contracts, type Vault } from './addresses.js'
import type { BridgeSpeed } from '../domain/intent.js'

export const networks = ['devnet', 'testnet'] as const
export type Network = (typeof networks)[number]

/** Canonical chain names, in the order in which answers list them. */
export const chainNames = ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'] as const
export type ChainName = (typeof chainNames)[number]

/** The part of a variable's name that stands for a chain, e.g. `BASE_SEPOLIA`. */
export const variableSuffix = (name: ChainName) => name.toUpperCase().replaceAll('-', '_')
/** Name of the variable that says where a chain's node is. */
export const rpcVariable = (name: ChainName) => `RPC_URL_${variableSuffix(name)}`

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)

/** Addresses that a deployment of the devnet yields for one chain. What a chain lacks is absent. */
export const devnetContracts = z.object({
  usdc: address,
  ethUsdFeed: address,
  tokenMessenger: address,
  messageTransmitter: address,
  aavePool: address,
  /** The dollar that Aave lists: USDC, or the test dollar. */
  aaveAsset: address,
  aToken: address,
  testDollar: address.optional(),
  comet: address.optional(),
  vault: address.optional(),
  uniswap: z.object({ factory: address, quoter: address, router: address }).optional(),
})
export type DevnetContracts = z.infer<typeof devnetContracts>

const devnetFile = z.record(z.enum(chainNames), devnetContracts)

/**
 * An ERC-20 token. `worth`: what one whole token is a promise of; tokens of the same worth are swapped at parity.
 * `eip712` are the name and version of its signing domain (EIP-2612, EIP-3009).
 */
export type Token = {
  symbol: string
  address: string
  decimals: number
  worth: 'USD'
  eip712: { name: string; version: string }
}

/** A lending market: what can be deposited where. `receiptToken` is what the depositor gets. */
export type Market = {
  protocol: 'aave-v3' | 'erc4626' | 'compound-v3'
  address: string
  underlying: string
  receiptToken: string
  /** Of a vault: the market of Aave in which it lends what it holds. */
  lendsTo?: Vault['lendsTo']
  /** Listed without being known to be there: offered where the probe finds it. */
  isCandidate?: true
}

/** Circle's bridge: the chain's number in it, and what an attestation of its burns takes, seconds. */
export type Cctp = {
  domain: number
  tokenMessenger: string
  messageTransmitter: string
  seconds: Record<BridgeSpeed, [lower: number, upper: number]>
}

/** The pool of two tokens, by their symbols in any order; `fee` is its tier in millionths. */
export type SwapPool = { tokens: [string, string]; fee: number }

export type Chain = {
  name: ChainName
  alias: string
  chainId: number
  usdc: Token
  /** Tokens beside USDC that a market takes. */
  otherTokens: Token[]
  markets: Market[]
  cctp: Cctp
  /** Uniswap v3 with QuoterV2 and SwapRouter02, and the one pool of each pair that is traded in. */
  uniswap?: { factory: string; quoter: string; router: string; pools: SwapPool[] }
  ethUsdFeed: string
  /** Blocks on top of and including an operation's own before it counts as confirmed. */
  confirmations: number
  /** Blocks below the head that count as final at a node which does not tell. */
  finalityBlocks: number
  /** How often the driver asks for a new head while it waits for something that was sent: a share of the block time. */
  pollMs: number
  /** A transaction that is not mined so long after it was sent, and so many blocks later, is replaced. */
  stuckAfter: { seconds: number; blocks: number }
  /** What a step usually takes here from its start to its confirmation, seconds. */
  stepSeconds: [lower: number, upper: number]
  /** How data that it posts on L1 is paid: as gas, or by a fee of its own. Absent: it is no rollup. */
  rollup?: RollupKind
  /** Where people look at its transactions, without a slash at the end. Absent: nowhere. */
  explorer?: string
  /** Between these the tip is what the node suggests; and the highest total fee per gas the signer accepts, wei. */
  tipWei: { lowest: bigint; highest: bigint }
  maxFeeCapWei: bigint
}

export type RollupKind = 'nitro' | 'op-stack'

/**
 * EntryPoint v0.8 and Simple7702Account v0.8 have the same address on every chain (CREATE2).
 * @see https://github.com/eth-infinitism/account-abstraction/releases/tag/v0.8.0
 */
export const ENTRY_POINT_ADDRESS = '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108'
export const DELEGATE_ADDRESS = '0xe6Cae83BdE06E4c305530e199D7217f42808555B'
/** Keccak-256 of the delegate's code: `deployedBytecode` in the npm package @account-abstraction/contracts 0.8.0. */
export const DELEGATE_CODE_HASH =
  '0xcc7b633aef4b2543cb8f37522adf1a401f910f0f6b2430c1eecc11f401ccfcf3'
/** EIP-7702: the code of an account that is delegated to it. */
export const DELEGATED_CODE = `0xef0100${DELEGATE_ADDRESS.slice(2).toLowerCase()}`

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

const GWEI = 1_000_000_000n

type Pricing = Pick<Chain, 'rollup' | 'tipWei'>

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

const usdcToken = (contract: string, name: string): Token => ({
  symbol: 'USDC',
  address: contract,
  decimals: 6,
  worth: 'USD',
  eip712: { name, version: '2' },
})
const testDollarToken = (contract: string): Token => ({
  symbol: 'TUSD',
  address: contract,
  decimals: 6,
  worth: 'USD',
  eip712: { name: 'Test Dollar', version: '1' },
})

/**
 * The tier for tokens that are worth the same.
 * @see https://docs.uniswap.org/concepts/protocol/fees
 */
const STABLE_FEE = 100

type Pace = Pick<
  Chain,
  'confirmations' | 'finalityBlocks' | 'pollMs' | 'stuckAfter' | 'stepSeconds' | 'explorer'
>

const dollarPool: SwapPool = { tokens: ['USDC', 'TUSD'], fee: STABLE_FEE }

/** The bridge's contracts, and how quick its attestations are on the network. */
type BridgePlace = Omit<Cctp, 'domain'>

function toChain(name: ChainName, contracts: Contracts & { cctp: BridgePlace }, pace: Pace): Chain {
  const { usdc, testDollar, ethUsdFeed, uniswap, cctp } = contracts
  const { alias, chainId, domain, usdcName } = chainFacts[name]
  return {
    name,
    alias,
    chainId,
    usdc: usdcToken(usdc, usdcName),
    otherTokens: testDollar ? [testDollarToken(testDollar)] : [],
    markets: listMarkets(contracts),
    cctp: { domain, ...cctp },
    ...(uniswap ? { uniswap: { ...uniswap, pools: testDollar ? [dollarPool] : [] } } : {}),
    ethUsdFeed,
    ...pace,
    ...pricing[name],
    maxFeeCapWei: 500n * GWEI,
  }
}

type Listed = Pick<Contracts, 'usdc' | 'aave' | 'comets' | 'vaults' | 'candidates'>

function listMarkets({ usdc, aave, comets = [], vaults = [], candidates }: Listed): Market[] {
  const likely = candidates ? listMarkets({ usdc, ...candidates }) : []
  const reserves = aave ? [aave] : []
  return [
    ...reserves.map(({ pool, asset, aToken }): Market => {
      return { protocol: 'aave-v3', address: pool, underlying: asset, receiptToken: aToken }
    }),
    ...comets.map((address): Market => {
      return { protocol: 'compound-v3', address, underlying: usdc, receiptToken: address }
    }),
    ...vaults.map(({ address, lendsTo }): Market => {
      return { protocol: 'erc4626', address, underlying: usdc, receiptToken: address, lendsTo }
    }),
    ...likely.map((market): Market => ({ ...market, isCandidate: true })),
  ]
}

function devnetChain(name: ChainName, contracts: DevnetContracts): Chain {
  const { tokenMessenger, messageTransmitter, aavePool, aaveAsset, aToken } = contracts
  const { comet, vault, ...common } = contracts
  const markets = {
    aave: { pool: aavePool, asset: aaveAsset, aToken },
    comets: comet ? [comet] : [],
    vaults: vault ? [{ address: vault, lendsTo: { pool: aavePool, aToken } }] : [],
  }
  // A block on top of the burn's, which are quicker there.
  const lower = name === 'arbitrum-sepolia' ? 0.25 : 1
  const seconds: Cctp['seconds'] = { fast: [lower, 3], standard: [1, 5] }
  const cctp = { tokenMessenger, messageTransmitter, seconds }
  return toChain(
    name,
    { ...common, ...markets, cctp },
    {
      confirmations: 1,
      finalityBlocks: 64,
      pollMs: 50,
      stuckAfter: { seconds: 5, blocks: 4 },
      stepSeconds: [1, 5],
    },
  )
}

/**
 * Ethereum finalizes within three epochs of 32 slots of 12 s; a rollup is final with the block of
 * Ethereum that holds its data, which we take to be half an hour: 7,200 blocks of 250 ms, 900 of 2 s.
 * @see https://ethereum.org/developers/docs/consensus-mechanisms/pos/#finality
 */
const finalityBlocks: Record<ChainName, number> = {
  'ethereum-sepolia': 96,
  'arbitrum-sepolia': 7_200,
  'base-sepolia': 900,
}

/**
 * @see https://sepolia.etherscan.io
 * @see https://sepolia.arbiscan.io
 * @see https://sepolia.basescan.org
 */
const testnetExplorers: Record<ChainName, string> = {
  'ethereum-sepolia': 'https://sepolia.etherscan.io',
  'arbitrum-sepolia': 'https://sepolia.arbiscan.io',
  'base-sepolia': 'https://sepolia.basescan.org',
}

function testnetChain(name: ChainName): Chain {
  const isSlow = name === 'ethereum-sepolia'
  // Fast, when the block is there; standard, when it is final.
  const seconds: Cctp['seconds'] = { fast: isSlow ? [15, 30] : [5, 15], standard: [780, 1_140] }
  const contracts = { ...testnetContracts[name], cctp: { ...testnetCctp, seconds } }
  return toChain(name, contracts, {
    confirmations: 2,
    finalityBlocks: finalityBlocks[name],
    pollMs: isSlow ? 1_500 : 500,
    stuckAfter: { seconds: isSlow ? 45 : 15, blocks: 3 },
    stepSeconds: isSlow ? [20, 60] : [5, 20],
    explorer: testnetExplorers[name],
  })
}

/** The page of a transaction, undefined where the chain has no explorer. */
export const transactionUrl = ({ explorer }: Chain, hash: string): string | undefined =>
  explorer && `${explorer}/tx/${hash}`

/** All tokens that the service works with on a chain, USDC first. */
export const tokensOf = ({ usdc, otherTokens }: Chain): Token[] => [usdc, ...otherTokens]

/** The one pool in which two tokens are swapped, undefined when the chain lists none. */
export const findPool = ({ uniswap }: Chain, a: Token, b: Token): SwapPool | undefined =>
  uniswap?.pools.find(({ tokens }) => tokens.includes(a.symbol) && tokens.includes(b.symbol))

/** The token of a symbol, undefined when the chain lists none. */
export const findToken = (chain: Chain, symbol: string): Token | undefined =>
  tokensOf(chain).find((token) => token.symbol === symbol)

/** The chains of a deployment and how callers name them. */
export type Registry = {
  network: Network
  chains: Chain[]
  /** The chain of a canonical name. Throws on a name that is not in the deployment: a bug, not input. */
  get(name: string): Chain
  byId(chainId: number): Chain
  /** The chain of a caller's name or alias; INVALID_REQUEST for an unknown one, by the name of its field. */
  resolve(name: string, field?: string): Chain
}

/**
 * Builds the registry of a network.
 *
 * @param file - JSON of the devnet's addresses per chain, needed on `devnet` only.
 */
export function createRegistry(network: Network, file?: string): Registry {
  const chains =
    network === 'devnet' ? readDevnet(file) : chainNames.map((name) => testnetChain(name))
  const get = (name: string) => {
    const chain = chains.find((candidate) => candidate.name === name)
    if (!chain) throw new Error(`No chain ${name} in this deployment.`)
    return chain
  }
  return {
    network,
    chains,
    get,
    byId(chainId) {
      const chain = chains.find((candidate) => candidate.chainId === chainId)
      if (!chain) throw new Error(`No chain with id ${chainId} in this deployment.`)
      return chain
    },
    resolve(name, field = 'chain') {
      const chain = chains.find((candidate) => candidate.name === name || candidate.alias === name)
      if (chain) return chain
      const known = chains.map((candidate) => candidate.name).join(', ')
      throw invalidRequest(field, `${field} is not a known chain. Use one of: ${known}.`)
    },
  }
}

function readDevnet(file: string | undefined): Chain[] {
  if (!file) {
    const message = 'DEVNET_FILE is not set. It names the addresses of the devnet.'
    throw new ServiceError('MISCONFIGURED', message)
  }
  const contracts = devnetFile.parse(JSON.parse(readFileSync(file, 'utf8')))
  return chainNames.map((name) => devnetChain(name, contracts[name]))
}
