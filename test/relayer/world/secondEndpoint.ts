import { connectChain } from '../../../evm/connect.js'
import { startAnvil, type Anvil } from '../../../dev/devnet/anvil.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { createDriverTools, type DriverTools } from '../../../relayer/relayerTools.js'
import { startFaultProxy, type Decide, type FaultProxy } from '../../support/faultProxy.js'
import type { World } from './fixture.js'

/** A block producer whose blocks differ from the first node's, with the same content. */
const OTHER_PRODUCER = '0x00000000000000000000000000000000000000fe'

/** A second endpoint of a chain. `node`: its own node; absent for the same node. */
export type SecondEndpoint = { proxy: FaultProxy; node: Anvil | undefined; stop(): Promise<void> }

/** The world's own node behind a second URL. */
export async function startSecondAddress(world: World): Promise<SecondEndpoint> {
  const proxy = await startFaultProxy(world.node.url)
  return { proxy, node: undefined, stop: () => proxy.stop() }
}

/** A node with the same blocks until now, which continues on its own. */
export async function startFork(world: World): Promise<SecondEndpoint> {
  const node = await startAnvil({ chainId: world.chain.chainId })
  await callRpc(node.url, 'anvil_loadState', [await world.rpc('anvil_dumpState')])
  await callRpc(node.url, 'anvil_setCoinbase', [OTHER_PRODUCER])
  await callRpc(node.url, 'evm_setAutomine', [false])
  const proxy = await startFaultProxy(node.url)
  const stop = async () => {
    await proxy.stop()
    await node.stop()
  }
  return { proxy, node, stop }
}

/** Comparison interval of the driver's endpoints, and delay of the first probe. */
const [COMPARE_MS, PROBE_MS] = [50, 50]

/** The world's driver with several endpoints, the preferred one first. */
export function createDriverOf(
  world: World,
  urls: string[],
  compareMs = COMPARE_MS,
): DriverTools & { close(): void } {
  const client = connectChain(world.chain, urls, { compareMs, waits: { probeMs: PROBE_MS } })
  const tools = createDriverTools(world.driver().db, client, world.log)
  return { ...tools, close: () => client.close() }
}

/** Answers of a node that is stuck at a block. */
export async function stuckAtHead(world: World): Promise<Decide> {
  const head = await world.rpc<{ number: string }>('eth_getBlockByNumber', ['latest', false])
  return ({ method, params: [at] }) => {
    if (method === 'eth_getTransactionReceipt') return { answer: null }
    if (method !== 'eth_getBlockByNumber') return undefined
    if (at === 'latest') return { answer: head }
    return BigInt(at as string) > BigInt(head.number) ? { answer: null } : undefined
  }
}
