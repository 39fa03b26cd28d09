import { setTimeout as sleep } from 'node:timers/promises'
import { Interface, toQuantity, type TransactionReceipt } from 'ethers'
import { devnetOwner } from '../../dev/devnet/deploy.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { until } from '../../test/e2e/stack.js'
import { inTurns, type PostRequest } from './clients.js'
import type { ChainName } from '../../evm/registry.js'
import type { Db } from '../../db/client/connect.js'
import type { ChainNode } from '../../test/e2e/world.js'

export type BenchWallet = { id: string; address: string }

type Endowment = { chain: ChainName; node: ChainNode; units: bigint; db: Db }

const AT_A_TIME = 16
const GAS = toQuantity(200_000)
/** Concurrent transactions, polls before a transaction is sent again, and ms between polls. */
const [TOGETHER, LOOKS, LOOK_MS] = [20, 20, 100]
const token = new Interface(['function mint(address to, uint256 amount) returns (bool)'])

/** Creates wallets by the API. */
export async function createWallets(call: PostRequest, count: number): Promise<BenchWallet[]> {
  const wallets: BenchWallet[] = []
  const names = Array.from({ length: count }, (_, i) => `lender-${i}`)
  await inTurns(names, AT_A_TIME, async (userId) => {
    const { status, body } = await call('/wallets', { userId }, `wallet of ${userId}`)
    if (status !== 201) throw new Error(`POST /wallets: ${status} ${JSON.stringify(body)}`)
    wallets.push({ id: String(body.id), address: String(body.address) })
  })
  return wallets
}

/** Gives each wallet USDC. Resolves when the service has indexed it. */
export async function endow(wallets: BenchWallet[], endowment: Endowment): Promise<void> {
  const { chain, node, units, db } = endowment
  // A node may return a used nonce while it mines, so the nonces are counted here.
  const nonce = await node.provider.getTransactionCount(devnetOwner, 'pending')
  const send = (at: number) => {
    const data = token.encodeFunctionData('mint', [wallets[at]?.address, units])
    const mint = { from: devnetOwner, to: node.contracts.usdc, data, gas: GAS }
    const numbered = { ...mint, nonce: toQuantity(nonce + at) }
    return callRpc<string>(node.url, 'eth_sendTransaction', [numbered])
  }
  let block = 0
  for (let from = 0; from < wallets.length; from += TOGETHER) {
    const part = [...wallets.keys()].slice(from, from + TOGETHER)
    for (const receipt of await untilMined(node, part, send)) {
      if (receipt.status !== 1) throw new Error('The funding of a wallet failed.')
      block = Math.max(block, receipt.blockNumber)
    }
  }
  await until(
    () => db('chain').where({ name: chain }).first<{ block: bigint }>('indexed_block as block'),
    (row) => row.block >= BigInt(block),
  )
}

/**
 * Sends transactions until all are mined. A node may drop a transaction that arrives while it mines, and later nonces
 * wait for it. Transactions that are not mined are then sent again.
 */
async function untilMined(
  { provider }: ChainNode,
  all: number[],
  send: (at: number) => Promise<string>,
): Promise<TransactionReceipt[]> {
  const sent = new Map<number, string[]>(all.map((at) => [at, []]))
  const findReceipt = async (hashes: string[]) => {
    const found = await Promise.all(hashes.map((hash) => provider.getTransactionReceipt(hash)))
    return found.find((receipt) => receipt !== null)
  }
  for (let looked = 0; ; looked++) {
    const receipts = await Promise.all([...sent.values()].map(findReceipt))
    const found = receipts.filter((receipt) => receipt !== undefined)
    if (found.length === all.length) return found
    const missing = looked % LOOKS === 0 ? all.filter((_, i) => !receipts[i]) : []
    for (const at of missing) {
      // Rejected because it is mined by now or still known to the node.
      const hash = await send(at).catch(() => undefined)
      if (hash) sent.get(at)?.push(hash)
    }
    await sleep(LOOK_MS)
  }
}
