import { pricing, type ChainName } from '../../evm/registry.js'
import { startAnvil, type Anvil, type StartOptions } from './anvil.js'
import { startFront } from './rollup/front.js'

/**
 * Starts a chain's node, with a front for a rollup. The front has the host and the port. `pid` is that of the node.
 *
 * @throws Error when the port is taken, or with the node's last output when it does not start.
 */
export async function startNode(name: ChainName, options: StartOptions): Promise<Anvil> {
  const { rollup: kind } = pricing[name]
  if (!kind) return startAnvil(options)
  const { host, port, ...inner } = options
  const node = await startAnvil(inner)
  try {
    const front = await startFront({ kind, target: node.url, host, port })
    const stop = async () => {
      await front.stop()
      await node.stop()
    }
    return { url: front.url, pid: node.pid, stop }
  } catch (error) {
    await node.stop()
    throw error
  }
}
