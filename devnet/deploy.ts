import { Interface, MaxUint256, parseEther, parseUnits, toQuantity, ZeroHash } from 'ethers'
import { multicallAddress } from '../chains/multicall.js'
import {
  delegateAddress,
  entryPointAddress,
  type ChainName,
  type DevnetContracts,
} from '../chains/registry.js'
import { planAave, type Lending } from './aave.js'
import {
  readAaveArtifact,
  readAccountArtifact,
  readOwnArtifacts,
  type OwnArtifacts,
} from './artifacts.js'
import { devnetMnemonic } from './anvil.js'
import { Plan, waitForReceipt, type Contract } from './plan.js'
import { callRpc, callRpcBatch } from './rpc.js'

/** First account of `devnetMnemonic`: deploys and owns all contracts and lends and borrows on Aave. */
const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

/** Salt of the public deployment of EntryPoint v0.8; that of Simple7702Account is zero. */
const entryPointSalt = '0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9'

const suppliedUsdc = '1010000'
/** USDC borrowed of it, and interest in percent: supply APYs of 1.52, 3.51 and 3.15 %. */
const markets: Record<ChainName, { borrowed: string; base: number; slope1: number }> = {
  'ethereum-sepolia': { borrowed: '620000', base: 0, slope1: 4 },
  'arbitrum-sepolia': { borrowed: '800000', base: 0, slope1: 5.5 },
  'base-sepolia': { borrowed: '710000', base: 1, slope1: 5 },
}

/** Wei, and USDC base units. */
const laneMinimum = parseEther('100')
const laneGrant = parseEther('1000')
const usdcUnits = (amount: string) => parseUnits(amount, 6)
const treasuryMinimum = usdcUnits('1000')
const treasuryGrant = usdcUnits('1000000')

/** Several blocks of the slowest chain. */
const mintTimeoutMs = 10_000

const usdcInterface = new Interface([
  'function balanceOf(address holder) view returns (uint256)',
  'function mint(address to, uint256 amount) returns (bool)',
])

/**
 * Deploys the devnet's contracts, or finishes a deployment that was interrupted. Sends nothing when
 * the chain holds them all.
 *
 * @throws Error when the chain holds other transactions of the deploying account.
 */
export async function deployChain(name: ChainName, rpcUrl: string): Promise<DevnetContracts> {
  const own = await readOwnArtifacts()
  const plan = new Plan(owner)
  const contracts = planChain(plan, name, own)
  const chainId = Number(await callRpc<string>(rpcUrl, 'eth_chainId'))
  await placeMulticall(rpcUrl, own.DevMulticall.deployedBytecode)
  await plan.execute(rpcUrl, chainId, devnetMnemonic)
  return contracts
}

function planChain(plan: Plan, name: ChainName, own: OwnArtifacts): DevnetContracts {
  const { base, slope1 } = markets[name]
  const token = plan.deploy(own.DevUSDC)
  const weth = plan.deploy(readAaveArtifact('dependencies/weth/WETH9'))
  const usdcFeed = plan.deploy(own.DevFeed, [parseUnits('1', 8), 'USDC / USD'])
  const ethFeed = plan.deploy(own.DevFeed, [parseUnits('3000', 8), 'ETH / USD'])
  const lending = planAave(plan, name, owner, [
    {
      ...{ symbol: 'USDC', decimals: 6, token, feed: usdcFeed, ltv: 7700, liquidation: 8000 },
      rates: { optimal: 90, base, slope1, slope2: 60 },
    },
    {
      ...{ symbol: 'WETH', decimals: 18, token: weth, feed: ethFeed, ltv: 8000, liquidation: 8250 },
      rates: { optimal: 80, base: 0, slope1: 3.3, slope2: 80 },
    },
  ])
  planSeed(plan, lending, { token, weth, borrowed: usdcUnits(markets[name].borrowed) })
  planAccounts(plan)
  return {
    usdc: token.address,
    aavePool: lending.pool.address,
    aUsdc: lending.firstAToken,
    ethUsdFeed: ethFeed.address,
  }
}

type Seed = { token: Contract; weth: Contract; borrowed: bigint }

function planSeed(plan: Plan, { pool }: Lending, { token, weth, borrowed }: Seed): void {
  const variableRate = 2
  const supplied = usdcUnits(suppliedUsdc)
  const collateral = parseEther('1000')
  plan.call(token, 'mint', [owner, supplied])
  plan.call(weth, 'deposit', [], { value: collateral })
  plan.call(token, 'approve', [pool.address, MaxUint256])
  plan.call(weth, 'approve', [pool.address, MaxUint256])
  plan.call(pool, 'supply', [token.address, supplied, owner, 0])
  plan.call(pool, 'supply', [weth.address, collateral, owner, 0])
  plan.call(pool, 'borrow', [token.address, borrowed, variableRate, 0, owner])
}

function planAccounts(plan: Plan): void {
  const entryPoint = plan.deployPublic(readAccountArtifact('EntryPoint'), entryPointSalt)
  const delegate = plan.deployPublic(readAccountArtifact('Simple7702Account'), ZeroHash)
  if (entryPoint.address === entryPointAddress && delegate.address === delegateAddress) return
  throw new Error('The bytecode of @account-abstraction/contracts is not the public one.')
}

async function placeMulticall(rpcUrl: string, code: string): Promise<void> {
  const present = await callRpc<string>(rpcUrl, 'eth_getCode', [multicallAddress, 'latest'])
  if (present === code) return
  await callRpc(rpcUrl, 'anvil_setCode', [multicallAddress, code])
}

/** Accounts that the service works with: lanes pay gas, the treasury pays out USDC. */
export type Operators = { lanes: string[]; treasury?: string }

/**
 * Gives ETH to each lane and USDC to the treasury where they run low.
 *
 * @returns The addresses that got something.
 */
export async function fundOperators(
  rpcUrl: string,
  contracts: DevnetContracts,
  { lanes, treasury }: Operators,
): Promise<string[]> {
  const balances = await callRpcBatch<string>(
    rpcUrl,
    lanes.map((lane) => ['eth_getBalance', [lane, 'latest']] as const),
  )
  const poor = lanes.filter((_, index) => BigInt(balances[index]?.result ?? 0) < laneMinimum)
  for (const lane of poor) {
    await callRpc(rpcUrl, 'anvil_setBalance', [lane, toQuantity(laneGrant)])
  }
  if (!treasury || (await readUsdc(rpcUrl, contracts, treasury)) >= treasuryMinimum) return poor
  await mintUsdc(rpcUrl, contracts, treasury)
  return [...poor, treasury]
}

async function readUsdc(
  rpcUrl: string,
  { usdc }: DevnetContracts,
  holder: string,
): Promise<bigint> {
  const data = usdcInterface.encodeFunctionData('balanceOf', [holder])
  return BigInt(await callRpc<string>(rpcUrl, 'eth_call', [{ to: usdc, data }, 'latest']))
}

/** anvil signs for the owner, with the chain's next nonce. */
async function mintUsdc(rpcUrl: string, { usdc }: DevnetContracts, holder: string): Promise<void> {
  const data = usdcInterface.encodeFunctionData('mint', [holder, treasuryGrant])
  const transaction = { from: owner, to: usdc, data }
  const hash = await callRpc<string>(rpcUrl, 'eth_sendTransaction', [transaction])
  const receipt = await waitForReceipt(rpcUrl, hash, mintTimeoutMs)
  if (receipt?.status !== '0x1') throw new Error(`Devnet: no USDC for ${holder} from ${rpcUrl}.`)
}
