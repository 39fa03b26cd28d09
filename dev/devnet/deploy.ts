import { Interface, parseEther, parseUnits, toQuantity, ZeroHash } from 'ethers'
import { ARB_GAS_INFO_ADDRESS, GAS_PRICE_ORACLE_ADDRESS } from '../../evm/l1Costs.js'
import { MULTICALL_ADDRESS } from '../../evm/calls/multicall.js'
import {
  DELEGATE_ADDRESS,
  ENTRY_POINT_ADDRESS,
  chainFacts,
  pricing,
  type ChainName,
  type DevnetContracts,
} from '../../evm/registry.js'
import { DEVNET_MNEMONIC } from './anvil.js'
import {
  readAccountArtifact,
  readOwnArtifacts,
  type Artifact,
  type OwnArtifacts,
} from './contracts/artifacts.js'
import { planCctp } from './contracts/cctp.js'
import { planMarkets } from './contracts/markets.js'
import { devnetTerms, type Terms } from './chains.js'
import { Plan, waitForReceipt } from './contracts/plan.js'
import { callRpc, callRpcBatch } from './rpc.js'

/** First account of `devnetMnemonic`. It deploys and owns all contracts, lends and borrows. anvil signs for it. */
export const devnetOwner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

/** Salt of the public deployment of EntryPoint v0.8. The salt of Simple7702Account is zero. */
const ENTRY_POINT_SALT = '0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9'

/** In wei, and in base units of USDC. */
const senderMinimum = parseEther('100')
const senderGrant = parseEther('1000')
const usdcUnits = (amount: string) => parseUnits(amount, 6)
const treasuryMinimum = usdcUnits('1000')
const treasuryGrant = usdcUnits('1000000')

/** Several blocks of the slowest chain. */
const MINT_TIMEOUT_MS = 10_000

const tokenInterface = new Interface([
  'function balanceOf(address holder) view returns (uint256)',
  'function mint(address to, uint256 amount) returns (bool)',
])

/**
 * Deploys the devnet's contracts, or completes an interrupted deployment. Sends nothing when the chain has all of
 * them.
 *
 * @throws Error when the chain has other transactions of the deploying account.
 */
export async function deployChain(
  name: ChainName,
  rpcUrl: string,
  terms = devnetTerms[name],
): Promise<DevnetContracts> {
  const own = await readOwnArtifacts()
  const plan = new Plan(devnetOwner)
  const contracts = planChain(plan, name, own, terms)
  const chainId = Number(await callRpc<string>(rpcUrl, 'eth_chainId'))
  await place(rpcUrl, MULTICALL_ADDRESS, own.DevMulticall)
  await placeL1Prices(rpcUrl, name, own)
  await plan.execute(rpcUrl, chainId, DEVNET_MNEMONIC)
  return contracts
}

function planChain(plan: Plan, name: ChainName, own: OwnArtifacts, terms: Terms): DevnetContracts {
  // Contracts that differ between chains come last, so that the bridge has the same addresses everywhere.
  const usdc = plan.deploy(own.DevUSDC, [chainFacts[name].usdcName])
  const { messenger, transmitter } = planCctp(plan, name, own, usdc)
  planAccounts(plan)
  return {
    usdc: usdc.address,
    tokenMessenger: messenger.address,
    messageTransmitter: transmitter.address,
    ...planMarkets({ plan, owner: devnetOwner, own, usdc }, name, terms),
  }
}

function planAccounts(plan: Plan): void {
  const entryPoint = plan.deployPublic(readAccountArtifact('EntryPoint'), ENTRY_POINT_SALT)
  const delegate = plan.deployPublic(readAccountArtifact('Simple7702Account'), ZeroHash)
  if (entryPoint.address === ENTRY_POINT_ADDRESS && delegate.address === DELEGATE_ADDRESS) return
  throw new Error('The bytecode of @account-abstraction/contracts is not the public one.')
}

async function placeL1Prices(rpcUrl: string, name: ChainName, own: OwnArtifacts): Promise<void> {
  const { rollup } = pricing[name]
  if (rollup === 'nitro') await place(rpcUrl, ARB_GAS_INFO_ADDRESS, own.DevArbGasInfo)
  if (rollup === 'op-stack') await place(rpcUrl, GAS_PRICE_ORACLE_ADDRESS, own.DevGasPriceOracle)
}

/** Sets a contract's code at the address that the real one has on public networks. */
async function place(rpcUrl: string, at: string, { deployedBytecode }: Artifact): Promise<void> {
  const present = await callRpc<string>(rpcUrl, 'eth_getCode', [at, 'latest'])
  if (present === deployedBytecode) return
  await callRpc(rpcUrl, 'anvil_setCode', [at, deployedBytecode])
}

/** The signer's accounts. `senders` pay gas and include the treasury, which also pays out USDC. */
export type Operators = { senders: string[]; treasury?: string }

/**
 * Tops up the ETH of each sender and the USDC of the treasury when they run low.
 *
 * @returns The addresses that received money.
 */
export async function fundOperators(
  rpcUrl: string,
  contracts: DevnetContracts,
  { senders, treasury }: Operators,
): Promise<string[]> {
  const balances = await callRpcBatch<string>(
    rpcUrl,
    senders.map((sender) => ['eth_getBalance', [sender, 'latest']] as const),
  )
  const poor = senders.filter((_, index) => BigInt(balances[index]?.result ?? 0) < senderMinimum)
  for (const sender of poor) {
    await callRpc(rpcUrl, 'anvil_setBalance', [sender, toQuantity(senderGrant)])
  }
  if (!treasury || (await readUsdc(rpcUrl, contracts, treasury)) >= treasuryMinimum) return poor
  await mintToken(rpcUrl, contracts.usdc, { holder: treasury, units: treasuryGrant })
  return [...poor, treasury]
}

async function readUsdc(
  rpcUrl: string,
  { usdc }: DevnetContracts,
  holder: string,
): Promise<bigint> {
  const data = tokenInterface.encodeFunctionData('balanceOf', [holder])
  return BigInt(await callRpc<string>(rpcUrl, 'eth_call', [{ to: usdc, data }, 'latest']))
}

/** `units`: base units. */
export type Mint = { holder: string; units: bigint }

/**
 * Mints a token of the devnet. anvil signs for the owner of the contracts, with the chain's next nonce.
 *
 * @throws Error when the transaction fails or is not mined in time.
 */
export async function mintToken(
  rpcUrl: string,
  token: string,
  { holder, units }: Mint,
): Promise<void> {
  const data = tokenInterface.encodeFunctionData('mint', [holder, units])
  const transaction = { from: devnetOwner, to: token, data }
  const hash = await callRpc<string>(rpcUrl, 'eth_sendTransaction', [transaction])
  const receipt = await waitForReceipt(rpcUrl, hash, MINT_TIMEOUT_MS)
  if (receipt?.status !== '0x1') throw new Error(`Devnet: no tokens for ${holder} from ${rpcUrl}.`)
}
