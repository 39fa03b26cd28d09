import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Interface, toQuantity } from 'ethers'
import { connectChains, type Chains } from '../../evm/connect.js'
import { readBlock } from '../../evm/read.js'
import {
  chainNames,
  createRegistry,
  type ChainName,
  type DevnetContracts,
  type Registry,
} from '../../evm/registry.js'
import { devnetOwner } from '../../dev/devnet/deploy.js'
import { devnetTerms, type Terms } from '../../dev/devnet/chains.js'
import { waitForReceipt } from '../../dev/devnet/contracts/plan.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { startIris } from '../../dev/devnet/iris/iris.js'
import { storeFees } from '../../relayer/fees.js'
import { connectAttestations } from '../../evm/bridges/bridges.js'
import { takeDeployed } from '../support/nodes.js'
import { timed } from '../support/run/seconds.js'
import type { Db } from '../../db/client/connect.js'

/** anvil responds before it has mined. */
const MINT_MS = 10_000

/** No process listens there. */
export const closedUrl = 'http://127.0.0.1:1'
const unreachable = { 'ethereum-sepolia': closedUrl, 'arbitrum-sepolia': closedUrl }
const noUrls: Record<ChainName, string> = { ...unreachable, 'base-sepolia': closedUrl }

const token = new Interface(['function mint(address to, uint256 amount)'])

const placeholder: DevnetContracts = {
  usdc: '0x0000000000000000000000000000000000000001',
  aavePool: '0x0000000000000000000000000000000000000002',
  aaveAsset: '0x0000000000000000000000000000000000000001',
  aToken: '0x0000000000000000000000000000000000000003',
  ethUsdFeed: '0x0000000000000000000000000000000000000004',
  tokenMessenger: '0x0000000000000000000000000000000000000005',
  messageTransmitter: '0x0000000000000000000000000000000000000006',
}

/** Addresses without contracts. */
export const placeholders = {
  'ethereum-sepolia': placeholder,
  'arbitrum-sepolia': placeholder,
  'base-sepolia': placeholder,
}

export type TestChains = {
  registry: Registry
  chains: Chains
  urls: Record<ChainName, string>
  /** Addresses of the deployed contracts, as in `DEVNET_FILE`. */
  contracts: Record<string, DevnetContracts>
  mint(chain: ChainName, to: string, units: bigint): Promise<void>
  /** Stores bridge fees, then the head of each chain as indexed. */
  index(db: Db): Promise<void>
  stop(): Promise<void>
}

/** Chains of the devnet that mine a block per transaction. Chains that are not named do not respond. */
export function startChains(
  names: readonly ChainName[] = chainNames,
  terms: Record<ChainName, Terms> = devnetTerms,
): Promise<TestChains> {
  return timed('chain', () => start(names, terms))
}

async function start(
  names: readonly ChainName[],
  terms: Record<ChainName, Terms>,
): Promise<TestChains> {
  const nodes = await Promise.all(
    names.map(async (name) => ({ name, ...(await takeDeployed(name, terms[name])) })),
  )
  const contracts = Object.fromEntries(chainNames.map((name) => [name, placeholder]))
  const urls = { ...noUrls }
  for (const { name, node, contracts: deployed } of nodes) {
    contracts[name] = deployed
    urls[name] = node.url
  }
  const registry = registryOf(contracts)
  const chains = connectChains(registry, urls)
  const burning = registry.chains.map(({ name, cctp: { domain, messageTransmitter } }) => {
    return { domain, rpcUrl: urls[name], transmitter: messageTransmitter }
  })
  const iris = await startIris({ chains: burning, port: 0 })
  const priced = new Set<Db>()
  return {
    registry,
    chains,
    urls,
    contracts,
    async mint(chain, to, units) {
      const data = token.encodeFunctionData('mint', [to, units])
      const transaction = { from: devnetOwner, to: registry.get(chain).usdc.address, data }
      const hash = await callRpc<string>(urls[chain], 'eth_sendTransaction', [transaction])
      const receipt = await waitForReceipt(urls[chain], hash, MINT_MS)
      if (receipt?.status !== '0x1') throw new Error(`No USDC for ${to} on ${chain}.`)
    },
    async index(db) {
      if (!priced.has(db)) await storeFees(db, connectAttestations(iris.url), chains)
      priced.add(db)
      const answering = chains.list.filter(({ chain }) => names.includes(chain.name))
      for (const client of answering) await indexHead(db, client)
    },
    async stop() {
      for (const client of chains.list) client.close()
      await Promise.all([iris.stop(), ...nodes.map(({ release }) => release())])
    },
  }
}

/** Chains that do not respond. */
export function silentChains(): Pick<TestChains, 'registry' | 'chains'> {
  const registry = registryOf(placeholders)
  return { registry, chains: connectChains(registry, noUrls) }
}

function registryOf(contracts: Record<string, DevnetContracts>): Registry {
  const folder = mkdtempSync(join(tmpdir(), 'steward-registry-'))
  try {
    const file = join(folder, 'devnet.json')
    writeFileSync(file, JSON.stringify(contracts))
    return createRegistry('devnet', file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function indexHead(db: Db, client: Chains['list'][number]): Promise<void> {
  const head = await readBlock(client, 'latest')
  if (!head) throw new Error('The chain has no block.')
  const { chainId, name } = client.chain
  const indexed = {
    indexed_block: head.number.toString(),
    indexed_hash: head.hash,
    base_fee_wei: head.baseFeeWei.toString(),
    indexed_at: db.raw('clock_timestamp()'),
  }
  await db('chain')
    .insert({ id: chainId, name, finalized_block: 0, ...indexed })
    .onConflict('id')
    .merge(indexed)
  await db('block_header')
    .insert({ chain_id: chainId, number: head.number.toString(), hash: head.hash })
    .onConflict(['chain_id', 'number'])
    .merge()
}

/** Mines empty blocks. */
export async function mine(url: string, blocks: number): Promise<void> {
  await callRpc(url, 'anvil_mine', [toQuantity(blocks)])
}
