import { setTimeout as sleep } from 'node:timers/promises'
import { Interface, toQuantity, Wallet, type HDNodeWallet } from 'ethers'
import { callRpc } from '../dev/devnet/rpc.js'
import { owner, type World } from '../test/relayer/world/fixture.js'

const ACCOUNTS = 2
const POLL_MS = 50
const FEES = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
const GAS_LIMIT = 100_000
const token = new Interface([
  'function mint(address to, uint256 amount) returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
])

/**
 * Sends the given number of USDC transfers, one transaction each, from two accounts. Returns transactions mined per
 * second.
 */
export async function sendSingly({ node, chain }: World, count: number): Promise<number> {
  const usdc = chain.usdc.address
  const accounts = Array.from({ length: ACCOUNTS }, () => Wallet.createRandom())
  for (const { address } of accounts) {
    await callRpc(node.url, 'anvil_setBalance', [address, toQuantity(10n ** 21n)])
    const data = token.encodeFunctionData('mint', [address, count])
    const mint = { from: owner, to: usdc, data }
    await untilMined(node.url, await callRpc<string>(node.url, 'eth_sendTransaction', [mint]))
  }
  const data = token.encodeFunctionData('transfer', [owner, 1])
  const begun = performance.now()
  const send = async (account: HDNodeWallet) => {
    let hash = ''
    for (let nonce = 0; nonce < count / ACCOUNTS; nonce++) {
      const { chainId } = chain
      const call = { to: usdc, data, gasLimit: GAS_LIMIT }
      const raw = await account.signTransaction({ type: 2, chainId, nonce, ...call, ...FEES })
      hash = await callRpc<string>(node.url, 'eth_sendRawTransaction', [raw])
    }
    await untilMined(node.url, hash)
  }
  await Promise.all(accounts.map(send))
  return count / ((performance.now() - begun) / 1_000)
}

async function untilMined(url: string, hash: string): Promise<void> {
  while (!(await callRpc<object | null>(url, 'eth_getTransactionReceipt', [hash]))) {
    await sleep(POLL_MS)
  }
}
