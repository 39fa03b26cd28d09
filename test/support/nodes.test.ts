import { Interface, toQuantity } from 'ethers'
import { expect, test } from 'vitest'
import { devnetOwner } from '../../dev/devnet/deploy.js'
import { waitForReceipt } from '../../dev/devnet/contracts/plan.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { createNodePool, type DeployedNode } from './nodes.js'

/** anvil responds before it has mined. */
const RECEIPT_MS = 10_000
const holder = `0x${'ab'.repeat(20)}`
const usdc = new Interface([
  'function mint(address to, uint256 amount)',
  'function balanceOf(address holder) view returns (uint256)',
])
const mint = ({ contracts }: DeployedNode) => ({
  ...{ from: devnetOwner, to: contracts.usdc },
  data: usdc.encodeFunctionData('mint', [holder, 7n]),
})

async function stateOf({ node: { url }, contracts }: DeployedNode) {
  const data = usdc.encodeFunctionData('balanceOf', [holder])
  const ask = <T>(method: string, params: unknown[]) => callRpc<T>(url, method, params)
  const { hash } = await ask<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
  const next = await ask<{ timestamp: string; baseFeePerGas: string; miner: string }>(
    'eth_getBlockByNumber',
    ['pending', false],
  )
  return {
    ...{ hash, baseFee: next.baseFeePerGas, miner: next.miner },
    held: BigInt(await ask<string>('eth_call', [{ to: contracts.usdc, data }, 'latest'])),
    nonce: await ask('eth_getTransactionCount', [devnetOwner, 'pending']),
    isOnTime: Math.abs(Number(next.timestamp) - Date.now() / 1_000) < 30,
  }
}

test('a released node has the state after the deployment', async () => {
  const pool = createNodePool()
  const first = await pool.takeDeployed('base-sepolia')
  const { url, pid } = first.node
  const before = await stateOf(first)
  expect(before).toMatchObject({ held: 0n, isOnTime: true })
  await callRpc(url, 'evm_setAutomine', [false])
  await callRpc(url, 'anvil_setCoinbase', [holder])
  await callRpc(url, 'eth_sendTransaction', [mint(first)])
  await callRpc(url, 'anvil_mine', ['0x5'])
  await callRpc(url, 'evm_increaseTime', [30 * 86_400])
  await callRpc(url, 'anvil_setNextBlockBaseFeePerGas', ['0x5f5e1000'])
  await callRpc(url, 'anvil_mine', ['0x1'])
  await callRpc(url, 'anvil_reorg', [3, []])
  await callRpc(url, 'eth_sendTransaction', [mint(first)])
  expect((await stateOf(first)).held).toBe(7n)
  await first.release()
  await first.release()

  const again = await pool.takeDeployed('base-sepolia')
  expect(again.node.pid).toBe(pid)
  expect(await stateOf(again)).toEqual(before)
  const hash = await callRpc<string>(url, 'eth_sendTransaction', [mint(again)])
  expect(await waitForReceipt(url, hash, RECEIPT_MS)).toMatchObject({ status: '0x1' })
  const other = await pool.takeDeployed('base-sepolia')
  expect(other.node.pid).not.toBe(pid)
  await again.release()
  await other.release()
})

test('a node released often keeps the states of as many blocks as a new one', async () => {
  const pool = createNodePool()
  for (const blocks of [20, 40, 40]) {
    const { node, contracts, release } = await pool.takeDeployed('base-sepolia')
    const { hash } = await callRpc<{ hash: string }>(node.url, 'eth_getBlockByNumber', [
      'latest',
      false,
    ])
    await callRpc(node.url, 'anvil_mine', [toQuantity(blocks)])
    const call = { to: contracts.usdc, data: usdc.encodeFunctionData('balanceOf', [holder]) }
    const held = callRpc<string>(node.url, 'eth_call', [call, { blockHash: hash }])
    await expect(held.then(BigInt)).resolves.toBe(0n)
    await release()
  }
})
