import { setTimeout as sleep } from 'node:timers/promises'
import { toQuantity, Wallet } from 'ethers'
import { readBalance, readReceipt, type Receipt } from '../../evm/read.js'
import { findToken, type Registry } from '../../evm/registry.js'
import { bridgeOf } from '../../evm/bridges/bridges.js'
import { getMarket, lendingProtocol } from '../../evm/lending/markets.js'
import { encodeSwap, readQuote } from '../../evm/swaps/uniswapV3.js'
import type { ChainClient, Chains } from '../../evm/connect.js'
import type { Attestations } from '../../evm/bridges/bridge.js'
import type { BridgeStep, StepPlan, PlanStep, SwapStep } from '../../domain/intent/intent.js'
import type { Call } from '../../domain/intent/operation.js'

const POLL_MS = 50
/** Fixed, because an estimate of a call requires that the approval before it is mined. */
const GAS_LIMIT = 800_000
const FEES = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }

type ScriptTools = { chains: Chains; registry: Registry; attestations: Attestations }

/** Gas used, and the base units that the next step may spend. */
type StepCost = { gas: bigint; units: bigint }

export type BareScript = ReturnType<typeof createBareScript>

/**
 * The minimal script for the steps of one plan: an account with ETH that sends all calls of a step at once, polls
 * their receipts every 50 ms and stores nothing.
 */
export function createBareScript(tools: ScriptTools) {
  const account = new Wallet(Wallet.createRandom().privateKey)
  return {
    address: account.address,
    /** Executes a plan with the script's own money. Returns the gas used. */
    async execute(plan: StepPlan, units: bigint): Promise<bigint> {
      let gas = 0n
      let spending = units
      for (const step of plan.steps) {
        const spent = await execute(tools, account, step, spending)
        gas += spent.gas
        spending = spent.units
      }
      return gas
    },
  }
}

async function execute(
  tools: ScriptTools,
  account: Wallet,
  step: PlanStep,
  units: bigint,
): Promise<StepCost> {
  if (step.type === 'bridge') return bridge(tools, account, step, units)
  const client = clientOf(tools, step.chain)
  if (step.type === 'swap') return swap(client, account, step, units)
  const market = getMarket(client.chain, step.market)
  const { encodeDeposit, encodeWithdraw } = lendingProtocol(market)
  const calls =
    step.type === 'deposit'
      ? encodeDeposit(market, account.address, units)
      : encodeWithdraw(market, account.address, { units })
  return { gas: (await send(client, account, calls)).gas, units }
}

async function swap(
  client: ChainClient,
  account: Wallet,
  step: SwapStep,
  unitsIn: bigint,
): Promise<StepCost> {
  const { chain } = client
  const from = findToken(chain, step.asset)
  const to = findToken(chain, step.toAsset)
  if (!from || !to || !chain.uniswap) throw new Error(`No swap on ${chain.name}.`)
  const order = { from, to, unitsIn }
  const quote = await readQuote(client, order)
  if (!quote) throw new Error(`No pool on ${chain.name}.`)
  const bounds = { wallet: account.address, fee: quote.fee, minimumUnits: 1n }
  const calls = encodeSwap(chain.uniswap.router, order, bounds)
  const { gas } = await send(client, account, calls)
  return { gas, units: await readBalance(client, { token: to.address, owner: account.address }) }
}

async function bridge(
  tools: ScriptTools,
  account: Wallet,
  { protocol, from, to, speed }: BridgeStep,
  units: bigint,
): Promise<StepCost> {
  const bridge = bridgeOf(protocol)
  const [source, target] = [clientOf(tools, from), clientOf(tools, to)]
  const { chain: destination } = target
  const maxFeeUnits = units / 1_000n
  const order = { wallet: account.address, units, maxFeeUnits, destination, speed }
  const burned = await send(source, account, bridge.encodeBurn(source.chain, order))
  const sourceDomain = bridge.domainOf(source.chain)
  const attested = await awaitAttestation(tools, sourceDomain, burned.hash)
  const mint = bridge.encodeMint(destination, attested)
  const minted = await send(target, account, [mint])
  return { gas: burned.gas + minted.gas, units: units - maxFeeUnits }
}

async function awaitAttestation({ attestations }: ScriptTools, sourceDomain: number, hash: string) {
  for (;;) {
    const [found] = await attestations.readMessages(sourceDomain, hash)
    const { message, attestation } = found ?? {}
    if (message && attestation) return { message, attestation }
    await sleep(POLL_MS)
  }
}

/** Sends calls in sequence without waiting in between. Returns the gas of all and the hash of the last one. */
async function send(client: ChainClient, account: Wallet, calls: Call[]) {
  const { chainId } = client.chain
  const asked = [account.address, 'pending']
  const count = await client.send<string>('eth_getTransactionCount', asked)
  const hashes: string[] = []
  for (const [i, call] of calls.entries()) {
    const nonce = Number(count) + i
    const transaction = { type: 2, chainId, nonce, gasLimit: GAS_LIMIT, ...FEES, ...call }
    const raw = await account.signTransaction(transaction)
    hashes.push(await client.send<string>('eth_sendRawTransaction', [raw]))
  }
  let gas = 0n
  for (const hash of hashes) gas += (await awaitReceipt(client, hash)).gasUsed
  return { gas, hash: hashes.at(-1) ?? '' }
}

const clientOf = ({ chains, registry }: ScriptTools, name: string) =>
  chains.byId(registry.get(name).chainId)

async function awaitReceipt(client: ChainClient, hash: string): Promise<Receipt> {
  for (;;) {
    const receipt = await readReceipt(client, hash)
    if (receipt?.success) return receipt
    if (receipt) throw new Error(`${hash} has failed on ${client.chain.name}.`)
    await sleep(POLL_MS)
  }
}

/** Gives an account ETH on every chain, and devnet USDC on some chains. */
export async function endow(
  { chains }: ScriptTools,
  address: string,
  sources: string[],
  units: bigint,
): Promise<void> {
  // DevUSDC.mint(address,uint256) is limited to its owner, for whom anvil signs.
  const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
  const words = [BigInt(address), units].map((word) => word.toString(16).padStart(64, '0'))
  for (const client of chains.list) {
    await client.send('anvil_setBalance', [address, toQuantity(10n ** 21n)])
    if (!sources.includes(client.chain.name)) continue
    const mint = { from: owner, to: client.chain.usdc.address, data: `0x40c10f19${words.join('')}` }
    await awaitReceipt(client, await client.send<string>('eth_sendTransaction', [mint]))
  }
}
