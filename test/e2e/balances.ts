import { Contract, Interface, ZeroAddress, id, zeroPadValue } from 'ethers'
import type { ChainNode, Wallet } from './world.js'

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

export const read = async (
  { provider }: ChainNode,
  address: string,
  name: string,
  args: unknown[] = [],
) => (await new Contract(address, token, provider).getFunction(name)(...args)) as bigint
export const sum = (all: bigint[]) => all.reduce((total, one) => total + one, 0n)
const word = (address: string) => zeroPadValue(address, 32).toLowerCase()

/** Balances of a wallet on a chain: in the wallet and in each market. Base units. */
export async function readWalletBalances(node: ChainNode, { address }: Pick<Wallet, 'address'>) {
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
async function readTransferred({ provider }: ChainNode, address: string, from: string, to: string) {
  const topics = [transferTopic, word(from), word(to)]
  const logs = await provider.getLogs({ address, topics, fromBlock: 0 })
  return sum(logs.map(({ data }) => BigInt(data)))
}

/** Burned and minted amounts of a wallet on a chain. */
async function readBridged(
  { provider, contracts }: ChainNode,
  { address }: Pick<Wallet, 'address'>,
) {
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

/** Cost of a wallet's swaps. The pool has two dollar tokens, so values compare one to one. */
async function readSwapLoss(
  node: ChainNode,
  { address }: Pick<Wallet, 'address'>,
): Promise<bigint> {
  const { usdc, testDollar, uniswap } = node.contracts
  if (!uniswap || !testDollar) return 0n
  const args = [usdc, testDollar, stableFee]
  const pool = String(await read(node, uniswap.factory, 'getPool', args))
  const both = [usdc, testDollar]
  const paid = both.map((asset) => readTransferred(node, asset, address, pool))
  const got = both.map((asset) => readTransferred(node, asset, pool, address))
  return sum(await Promise.all(paid)) - sum(await Promise.all(got))
}

/** A wallet's money on one chain in base units: balance, deposits, received amounts and costs. */
export async function readAccount(node: ChainNode, wallet: Pick<Wallet, 'address'>) {
  const { usdc, testDollar, aave, comet, vault, eth } = await readWalletBalances(node, wallet)
  const made = await readTransferred(node, node.contracts.usdc, ZeroAddress, wallet.address)
  const { burned, minted, fees } = await readBridged(node, wallet)
  const loss = await readSwapLoss(node, wallet)
  const lent = aave + comet + vault
  return { held: usdc + testDollar, lent, loss, burned, minted, fees, given: made - minted, eth }
}

/** The wallet's money in the bridge, and the surplus over the received amounts, over all chains. */
export function balanceOf(accounts: Awaited<ReturnType<typeof readAccount>>[]) {
  const total = (of: keyof (typeof accounts)[number]) => sum(accounts.map((one) => one[of]))
  const inBridge = total('burned') - total('minted') - total('fees')
  const found = total('held') + total('lent') + total('fees') + total('loss') + inBridge
  return { inBridge, surplus: found - total('given') }
}
