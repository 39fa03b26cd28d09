import { toQuantity } from 'ethers'
import {
  createRegistry,
  pricing,
  type ChainName,
  type DevnetContracts,
} from '../../../evm/registry.js'
import { startAnvil, type Anvil } from '../../../dev/devnet/anvil.js'
import { devnetTerms, type Terms } from '../../../dev/devnet/chains.js'
import { deployChain } from '../../../dev/devnet/deploy.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { startFront } from '../../../dev/devnet/rollup/front.js'
import { takeDeployed } from '../../support/nodes.js'

/** A node with its contracts, its proxy, and the control of its blocks. */
export type WorldNode = {
  node: Anvil
  contracts: DevnetContracts
  serviceUrl: string
  mine(blocks: number): Promise<void>
  stop(): Promise<void>
}

/** `blockTimeSeconds`: absent, blocks are only mined by `mine`. */
export async function startPlainNode(
  name: ChainName,
  terms: Terms,
  blockTimeSeconds: number | undefined,
): Promise<WorldNode> {
  const started = await (blockTimeSeconds
    ? startMining(name, terms, blockTimeSeconds)
    : takeDeployed(name, terms))
  const { node, contracts, release: stop } = started
  const mine = (blocks: number) => callRpc<void>(node.url, 'anvil_mine', [toQuantity(blocks)])
  return { node, contracts, serviceUrl: node.url, mine, stop }
}

async function startMining(name: ChainName, terms: Terms, blockTimeSeconds: number) {
  const { chainId } = createRegistry('testnet').get(name)
  const node = await startAnvil({ chainId, blockTimeSeconds })
  return { node, contracts: await deployChain(name, node.url, terms), release: node.stop }
}

/** A rollup node that charges for data on L1 at the usual base fee. Blocks are only mined by `mine`. */
export async function startRollupNode(name: ChainName, terms: Terms): Promise<WorldNode> {
  const { rollup: kind } = pricing[name]
  if (!kind) throw new Error(`${name} is no rollup.`)
  const { chainId } = createRegistry('testnet').get(name)
  const { baseFeeWei } = devnetTerms[name]
  const node = await startAnvil({ chainId, baseFeeWei })
  const front = await startFront({ kind, target: node.url })
  return {
    ...{ node, serviceUrl: front.url, contracts: await deployChain(name, node.url, terms) },
    async mine(blocks) {
      const baseFee = toQuantity(baseFeeWei)
      await callRpc(node.url, 'anvil_setNextBlockBaseFeePerGas', [baseFee])
      await callRpc(node.url, 'anvil_mine', [toQuantity(blocks)])
    },
    async stop() {
      await front.stop()
      await node.stop()
    },
  }
}
