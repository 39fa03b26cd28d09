import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { ServiceError } from '../domain/errors.js'

export const networks = ['devnet', 'testnet'] as const
export type Network = (typeof networks)[number]

/** Canonical chain names, in the order in which answers list them. */
export const chainNames = ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'] as const
export type ChainName = (typeof chainNames)[number]

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)

/** Addresses that a deployment of the devnet yields for one chain. */
export const devnetContracts = z.object({
  usdc: address,
  aavePool: address,
  aUsdc: address,
  ethUsdFeed: address,
})
export type DevnetContracts = z.infer<typeof devnetContracts>

const devnetFile = z.record(z.enum(chainNames), devnetContracts)

/** An ERC-20 token. `eip712` are the name and version of its signing domain (EIP-2612, EIP-3009). */
export type Token = {
  symbol: string
  address: string
  decimals: number
  eip712: { name: string; version: string }
}

/** A lending market: what can be deposited where. `receiptToken` is what the depositor gets. */
export type Market = {
  protocol: 'aave-v3'
  address: string
  underlying: string
  receiptToken: string
}

export type Chain = {
  name: ChainName
  alias: string
  chainId: number
  usdc: Token
  markets: Market[]
  ethUsdFeed: string
  /** Blocks on top of and including an operation's own before it counts as confirmed. */
  confirmations: number
  /** How often the driver asks for a new head. */
  pollMs: number
  /** What a step usually takes here from its start to its confirmation, seconds. */
  stepSeconds: [lower: number, upper: number]
  /** Tip offered to the block producer, and the highest total fee per gas the signer accepts, wei. */
  priorityFeeWei: bigint
  maxFeeCapWei: bigint
}

/**
 * EntryPoint v0.8 and Simple7702Account v0.8 have the same address on every chain (CREATE2).
 * @see https://github.com/eth-infinitism/account-abstraction/releases/tag/v0.8.0
 */
export const entryPointAddress = '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108'
export const delegateAddress = '0xe6Cae83BdE06E4c305530e199D7217f42808555B'

type ChainFacts = Pick<Chain, 'name' | 'alias' | 'chainId'>
const facts: Record<ChainName, ChainFacts> = {
  'ethereum-sepolia': { name: 'ethereum-sepolia', alias: 'ethereum', chainId: 11155111 },
  'arbitrum-sepolia': { name: 'arbitrum-sepolia', alias: 'arbitrum', chainId: 421614 },
  'base-sepolia': { name: 'base-sepolia', alias: 'base', chainId: 84532 },
}

/**
 * Public testnet addresses. USDC: Circle's list of testnet contracts; Aave: aave-address-book 4.44.22,
 * only where its market lists Circle's USDC; feeds: Chainlink's list of ETH / USD feeds.
 * @see https://developers.circle.com/stablecoins/usdc-contract-addresses
 * @see https://github.com/bgd-labs/aave-address-book
 * @see https://docs.chain.link/data-feeds/price-feeds/addresses
 */
const testnetContracts: Record<ChainName, { usdc: string; ethUsdFeed: string; aave?: string[] }> = {
  'ethereum-sepolia': {
    usdc: '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238',
    ethUsdFeed: '0x694AA1769357215DE4FAC081bf1f309aDC325306',
  },
  'arbitrum-sepolia': {
    usdc: '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d',
    ethUsdFeed: '0xd30e2101a97dcbAeBCBC04F14C3f624E67A35165',
    aave: [
      '0xBfC91D59fdAA134A4ED45f7B584cAf96D7792Eff',
      '0x460b97BD498E1157530AEb3086301d5225b91216',
    ],
  },
  'base-sepolia': {
    usdc: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    ethUsdFeed: '0x4aDC67696bA383F43DD60A9e78F2C97Fbbfc7cb1',
  },
}

const gwei = 1_000_000_000n
const usdcToken = (contract: string): Token => ({
  symbol: 'USDC',
  address: contract,
  decimals: 6,
  eip712: { name: 'USDC', version: '2' },
})

function devnetChain(name: ChainName, contracts: DevnetContracts): Chain {
  return {
    ...facts[name],
    usdc: usdcToken(contracts.usdc),
    markets: [
      {
        protocol: 'aave-v3',
        address: contracts.aavePool,
        underlying: contracts.usdc,
        receiptToken: contracts.aUsdc,
      },
    ],
    ethUsdFeed: contracts.ethUsdFeed,
    confirmations: 1,
    pollMs: 50,
    stepSeconds: [1, 5],
    priorityFeeWei: gwei,
    maxFeeCapWei: 500n * gwei,
  }
}

function testnetChain(name: ChainName): Chain {
  const { usdc, ethUsdFeed, aave } = testnetContracts[name]
  const [pool, receiptToken] = aave ?? []
  return {
    ...facts[name],
    usdc: usdcToken(usdc),
    markets:
      pool && receiptToken
        ? [{ protocol: 'aave-v3', address: pool, underlying: usdc, receiptToken }]
        : [],
    ethUsdFeed,
    confirmations: 2,
    pollMs: name === 'ethereum-sepolia' ? 3_000 : 1_000,
    stepSeconds: name === 'ethereum-sepolia' ? [20, 60] : [5, 20],
    priorityFeeWei: gwei / 10n,
    maxFeeCapWei: 500n * gwei,
  }
}

/** The chains of a deployment and how callers name them. */
export type Registry = {
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
      const known = chains.map((candidate) => candidate.name)
      const message = `Use one of: ${known.join(', ')}`
      throw new ServiceError('INVALID_REQUEST', `${field}: unknown chain. ${message}.`, {
        issues: [{ path: field, message }],
      })
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
