import { Interface, toQuantity } from 'ethers'
import { devnetOwner } from '../../devnet/deploy.js'
import { callRpc } from '../../devnet/rpc.js'
import { until } from '../../test/e2e/stack.js'
import { inTurns, type Call } from './clients.js'
import type { ChainName } from '../../chains/registry.js'
import type { Db } from '../../db/connection/connect.js'
import type { Node } from '../../test/e2e/world.js'

export type Wallet = { id: string; address: string }

type Endowment = { chain: ChainName; node: Node; units: bigint; db: Db }

const AT_A_TIME = 16
const GAS = toQuantity(200_000)
const token = new Interface(['function mint(address to, uint256 amount) returns (bool)'])

/** Makes wallets by the API. */
export async function createWallets(call: Call, count: number): Promise<Wallet[]> {
  const wallets: Wallet[] = []
  const names = Array.from({ length: count }, (_, i) => `lender-${i}`)
  await inTurns(names, AT_A_TIME, async (userId) => {
    const { status, body } = await call('/wallets', { userId }, `wallet of ${userId}`)
    if (status !== 201) throw new Error(`POST /wallets: ${status} ${JSON.stringify(body)}`)
    wallets.push({ id: String(body.id), address: String(body.address) })
  })
  return wallets
}

/** Gives each wallet USDC, and resolves when the service counts it. */
export async function endow(wallets: Wallet[], endowment: Endowment): Promise<void> {
  const { chain, node, units, db } = endowment
  const hashes: string[] = []
  // A node that is asked for the next nonce while it mines may tell one that was used.
  let nonce = await node.provider.getTransactionCount(devnetOwner, 'pending')
  for (const { address } of wallets) {
    const data = token.encodeFunctionData('mint', [address, units])
    const mint = {
      ...{ from: devnetOwner, to: node.contracts.usdc, data, gas: GAS },
      nonce: toQuantity(nonce++),
    }
    hashes.push(await callRpc<string>(node.url, 'eth_sendTransaction', [mint]))
  }
  const last = await until(
    () => node.provider.getTransactionReceipt(hashes.at(-1) ?? ''),
    (receipt) => receipt !== null,
  )
  const receipts = await Promise.all(
    hashes.map((hash) => node.provider.getTransactionReceipt(hash)),
  )
  const lost = receipts.filter((receipt) => receipt?.status !== 1).length
  if (lost > 0) throw new Error(`${lost} wallets were not given their money.`)
  const block = BigInt(last?.blockNumber ?? 0)
  await until(
    () => db('chain').where({ name: chain }).first<{ block: bigint }>('booked_block as block'),
    (row) => BigInt(row.block) >= block,
  )
}
