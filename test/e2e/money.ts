import { expect } from '@jest/globals'
import { Contract, Interface, ZeroAddress, id, zeroPadValue } from 'ethers'
import { chainNames } from '../../chains/registry.js'
import type { Node, Told, Wallet, World } from './world.js'

const token = new Interface([
  'function balanceOf(address) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function previewRedeem(uint256) view returns (uint256)',
  'function getPool(address, address, uint24) view returns (address)',
])
const bridge = new Interface([
  `event DepositForBurn(address indexed burnToken, uint256 amount, address indexed depositor,
    bytes32 mintRecipient, uint32 destinationDomain, bytes32 destinationTokenMessenger,
    bytes32 destinationCaller, uint256 maxFee, uint32 indexed minFinalityThreshold, bytes hookData)`,
  `event MintAndWithdraw(address indexed mintRecipient, uint256 amount, address indexed mintToken,
    uint256 feeCollected)`,
])
const [burnTopic, mintTopic] = ['DepositForBurn', 'MintAndWithdraw'].map(
  (name) => bridge.getEvent(name)?.topicHash ?? '',
)
const transferTopic = id('Transfer(address,address,uint256)')
const stableFee = 100

const read = async ({ provider }: Node, address: string, name: string, args: unknown[] = []) =>
  (await new Contract(address, token, provider).getFunction(name)(...args)) as bigint
const sum = (all: bigint[]) => all.reduce((total, one) => total + one, 0n)
const word = (address: string) => zeroPadValue(address, 32).toLowerCase()

/** What a wallet has on a chain: in itself, and in each market. Base units. */
export async function readHoldings(node: Node, { address }: Wallet) {
  const { usdc, testDollar, aToken, comet, vault } = node.contracts
  const held = (at: string | undefined) => (at ? read(node, at, 'balanceOf', [address]) : 0n)
  const shares = await held(vault)
  return {
    usdc: await held(usdc),
    testDollar: await held(testDollar),
    aave: await held(aToken),
    comet: await held(comet),
    vault: vault ? await read(node, vault, 'previewRedeem', [shares]) : 0n,
    eth: await node.provider.getBalance(address),
  }
}

/** Sum of a token's transfers between two accounts. */
async function readTransferred({ provider }: Node, address: string, from: string, to: string) {
  const topics = [transferTopic, word(from), word(to)]
  const logs = await provider.getLogs({ address, topics, fromBlock: 0 })
  return sum(logs.map(({ data }) => BigInt(data)))
}

/** What went into and came out of the bridge on a chain, for a wallet. */
async function readBridged({ provider, contracts }: Node, { address }: Wallet) {
  const at = { address: contracts.tokenMessenger, fromBlock: 0 }
  const burns = await provider.getLogs({ ...at, topics: [burnTopic ?? '', null, word(address)] })
  const mints = await provider.getLogs({ ...at, topics: [mintTopic ?? '', word(address)] })
  const valueOf = (name: string) => (log: (typeof burns)[number]) =>
    bridge.parseLog(log)?.args[name] as bigint
  return {
    burned: sum(burns.map(valueOf('amount'))),
    minted: sum(mints.map(valueOf('amount'))),
    fees: sum(mints.map(valueOf('feeCollected'))),
  }
}

/** What swaps of a wallet have cost it: a dollar is a dollar in the pool of two. */
async function readSwapLoss(node: Node, { address }: Wallet): Promise<bigint> {
  const { usdc, testDollar, uniswap } = node.contracts
  if (!uniswap || !testDollar) return 0n
  const args = [usdc, testDollar, stableFee]
  const pool = String(await read(node, uniswap.factory, 'getPool', args))
  const both = [usdc, testDollar]
  const paid = both.map((asset) => readTransferred(node, asset, address, pool))
  const got = both.map((asset) => readTransferred(node, asset, pool, address))
  return sum(await Promise.all(paid)) - sum(await Promise.all(got))
}

/** Markets round against the lender, by a unit or two each time; some seconds of interest are less than that. */
const ROUNDING_UNITS = 10n

/**
 * Every unit that a wallet was given or has `gained` is in the wallet, lent, in the bridge, or was kept by bridge and pool
 * as a fee; all of it read from the chains. Money that was never lent is counted to the last unit.
 *
 * @returns Base units that are in the bridge now.
 */
export async function expectConserved(world: World, wallet: Wallet, gained = 0n): Promise<bigint> {
  const parts = await Promise.all(
    chainNames.map(async (chain) => {
      const node = world.nodes[chain]
      const { usdc, testDollar, aave, comet, vault, eth } = await readHoldings(node, wallet)
      const made = await readTransferred(node, node.contracts.usdc, ZeroAddress, wallet.address)
      const bridged = await readBridged(node, wallet)
      expect(eth).toBe(0n)
      const lent = aave + comet + vault
      const { burned, minted, fees } = bridged
      const loss = await readSwapLoss(node, wallet)
      return { held: usdc + testDollar, lent, loss, burned, minted, fees, given: made - minted }
    }),
  )
  const total = (of: keyof (typeof parts)[number]) => sum(parts.map((part) => part[of]))
  const inBridge = total('burned') - total('minted') - total('fees')
  expect(inBridge).toBeGreaterThanOrEqual(0n)
  const found = total('held') + total('lent') + total('fees') + total('loss') + inBridge
  const wasLent = await world
    .db('operation')
    .where({ wallet_id: wallet.id, kind: 'deposit', success: true })
    .first<object | undefined>('id')
  const slack = wasLent ? ROUNDING_UNITS : 0n
  const difference = found - total('given') - gained
  expect(difference < 0n ? -difference : difference).toBeLessThanOrEqual(slack)
  return inBridge
}

/** USDC that exists on all chains together. */
export async function readSupply({ nodes }: World): Promise<bigint> {
  const supplies = chainNames.map((chain) =>
    read(nodes[chain], nodes[chain].contracts.usdc, 'totalSupply'),
  )
  return sum(await Promise.all(supplies))
}

/**
 * The results of an intent agree with the chains: each transaction is there and succeeded, and the totals
 * are its parts'.
 *
 * @param order - Kinds and chains of the operations, e.g. `bridge arbitrum-sepolia`.
 */
export async function expectTransactions(
  { nodes }: World,
  { results }: Told,
  order: string[],
): Promise<void> {
  const { transactions, totalGasUsed, totalGasCostUsd } = results
  expect(transactions.map(({ type, chain }) => `${type} ${chain}`)).toEqual(order)
  for (const { txHash, chain, gasUsed, gasCostUsd } of transactions) {
    const receipt = await nodes[chain].provider.getTransactionReceipt(txHash)
    expect(receipt?.status).toBe(1)
    expect(BigInt(gasUsed)).toBeGreaterThan(0n)
    expect(gasCostUsd).toBeGreaterThan(0)
  }
  expect(totalGasUsed).toBe(sum(transactions.map(({ gasUsed }) => BigInt(gasUsed))).toString())
  const costs = transactions.reduce((usd, { gasCostUsd }) => usd + gasCostUsd, 0)
  expect(totalGasCostUsd).toBeCloseTo(costs, 6)
}
