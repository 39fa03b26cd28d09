import { ServiceError } from '../domain/errors.js'
import { testnetCctp, testnetContracts, type Contracts } from './addresses.js'
import { readDevnetFile, type DevnetContracts } from './devnetFile.js'
import {
  GWEI,
  chainFacts,
  chainNames,
  finalityBlocks,
  pricing,
  testnetExplorers,
  type ChainName,
} from './facts.js'
import type { Cctp, Chain, Market, SwapPool, Token } from './chain.js'

export const networks = ['devnet', 'testnet'] as const
export type NetworkName = (typeof networks)[number]
/** Networks whose tokens have a price. Without one, an intent may move any amount. */
export const realMoney: Record<NetworkName, boolean> = { devnet: false, testnet: false }

export {
  aliasOf,
  chainFacts,
  chainNames,
  findCanonicalName,
  pricing,
  protocols,
  rpcVariable,
  tokenSymbols,
  variableSuffix,
  type ChainName,
  type RollupKind,
} from './facts.js'
export type { Chain, Market, SwapPool, Token } from './chain.js'
export type { DevnetContracts } from './devnetFile.js'

/**
 * EntryPoint v0.8 and Simple7702Account v0.8 have the same address on every chain (CREATE2).
 * @see https://github.com/eth-infinitism/account-abstraction/releases/tag/v0.8.0
 */
export const ENTRY_POINT_ADDRESS = '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108'
export const DELEGATE_ADDRESS = '0xe6Cae83BdE06E4c305530e199D7217f42808555B'
/** Keccak-256 of the delegate's code: `deployedBytecode` in the npm package @account-abstraction/contracts 0.8.0. */
export const DELEGATE_CODE_HASH =
  '0xcc7b633aef4b2543cb8f37522adf1a401f910f0f6b2430c1eecc11f401ccfcf3'
/** EIP-7702: the code of an account delegated to it. */
export const DELEGATED_CODE = `0xef0100${DELEGATE_ADDRESS.slice(2).toLowerCase()}`

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
 * The fee tier for tokens of equal worth, in millionths.
 * @see https://docs.uniswap.org/concepts/protocol/fees
 */
const STABLE_FEE = 100

type ChainTiming = Pick<
  Chain,
  | 'confirmations'
  | 'finalityBlocks'
  | 'pollMs'
  | 'idlePollMs'
  | 'stuckAfter'
  | 'stepSeconds'
  | 'explorer'
>

const dollarPool: SwapPool = { tokens: ['USDC', 'TUSD'], fee: STABLE_FEE }

/** The bridge's contracts, and its attestation times on the network. */
type BridgeDeployment = Omit<Cctp, 'domain'>

function toChain(
  name: ChainName,
  contracts: Contracts & { cctp: BridgeDeployment },
  timing: ChainTiming,
): Chain {
  const { usdc, testDollar, ethUsdFeed, usdcUsdFeed, uniswap, cctp } = contracts
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
    ...{ ethUsdFeed, usdcUsdFeed },
    ...timing,
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
  // One block after the burn's block. Arbitrum's blocks are faster.
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
      idlePollMs: 200,
      stuckAfter: { seconds: 5, blocks: 4 },
      stepSeconds: [1, 5],
    },
  )
}

/** Two calls each: below 2,500 calls a day. */
const IDLE_POLL_MS = 75_000

function testnetChain(name: ChainName): Chain {
  const isSlow = name === 'ethereum-sepolia'
  // Fast: one block. Standard: finality.
  const seconds: Cctp['seconds'] = { fast: isSlow ? [15, 30] : [5, 15], standard: [780, 1_140] }
  const contracts = { ...testnetContracts[name], cctp: { ...testnetCctp, seconds } }
  return toChain(name, contracts, {
    confirmations: 2,
    finalityBlocks: finalityBlocks[name],
    pollMs: isSlow ? 1_500 : 500,
    idlePollMs: IDLE_POLL_MS,
    stuckAfter: { seconds: isSlow ? 45 : 15, blocks: 3 },
    stepSeconds: isSlow ? [20, 60] : [5, 20],
    explorer: testnetExplorers[name],
  })
}

/** The explorer page of a transaction; undefined without an explorer. */
export const transactionUrl = ({ explorer }: Chain, hash: string): string | undefined =>
  explorer && `${explorer}/tx/${hash}`

/** All tokens that the service supports on a chain, USDC first. */
export const tokensOf = ({ usdc, otherTokens }: Chain): Token[] => [usdc, ...otherTokens]

/** The pool in which two tokens are swapped; undefined when the chain lists none. */
export const findPool = ({ uniswap }: Chain, a: Token, b: Token): SwapPool | undefined =>
  uniswap?.pools.find(({ tokens }) => tokens.includes(a.symbol) && tokens.includes(b.symbol))

/** The token of a symbol; undefined when the chain lists none. */
export const findToken = (chain: Chain, symbol: string): Token | undefined =>
  tokensOf(chain).find((token) => token.symbol === symbol)

/** The chains of a deployment, by name and id. */
export type Registry = {
  network: NetworkName
  chains: Chain[]
  /** The chain of a canonical name. Throws for an unknown name, which is a bug and not bad input. */
  get(name: string): Chain
  byId(chainId: number): Chain
}

/**
 * Builds the registry of a network.
 *
 * @param file - JSON file with the devnet's addresses per chain; required on `devnet` only.
 */
export function createRegistry(network: NetworkName, file?: string): Registry {
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
  }
}

function readDevnet(file: string | undefined): Chain[] {
  if (!file) {
    const message = 'DEVNET_FILE is not set. Set it to the file with the addresses of the devnet.'
    throw new ServiceError('MISCONFIGURED', message)
  }
  const contracts = readDevnetFile(file)
  return chainNames.map((name) => devnetChain(name, contracts[name]))
}
