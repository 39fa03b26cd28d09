import { toQuantity } from 'ethers'
import { createRegistry, pricing, type ChainName } from '../../../chains/registry.js'
import { startAnvil, type Anvil } from '../../../devnet/anvil.js'
import { devnetTerms } from '../../../devnet/chains.js'
import { callRpc } from '../../../devnet/rpc.js'
import { startFront } from '../../../devnet/rollup/front.js'

/** A node, the way to it for the service, and how its next blocks come by. */
export type WorldNode = {
  node: Anvil
  serviceUrl: string
  mine(blocks: number): Promise<void>
  stop(): Promise<void>
}

export async function startPlainNode(
  name: ChainName,
  blockTimeSeconds: number | undefined,
): Promise<WorldNode> {
  const { chainId } = createRegistry('testnet').get(name)
  const node = await startAnvil({ chainId, blockTimeSeconds })
  const mine = (blocks: number) => callRpc<void>(node.url, 'anvil_mine', [toQuantity(blocks)])
  return { node, serviceUrl: node.url, mine, stop: node.stop }
}

/** A rollup's, which charges for data on L1, at the base fee usual there. Blocks come only by `mine`. */
export async function startRollupNode(name: ChainName): Promise<WorldNode> {
  const { rollup: kind } = pricing[name]
  if (!kind) throw new Error(`${name} is no rollup.`)
  const { chainId } = createRegistry('testnet').get(name)
  const { baseFeeWei } = devnetTerms[name]
  const node = await startAnvil({ chainId, baseFeeWei })
  const front = await startFront({ kind, target: node.url })
  return {
    ...{ node, serviceUrl: front.url },
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
