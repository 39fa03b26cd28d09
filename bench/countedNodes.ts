import { chainNames, createRegistry, type ChainName } from '../chains/registry.js'
import { startAnvil } from '../devnet/anvil.js'
import { devnetTerms } from '../devnet/chains.js'
import { startFaultProxy, type RpcCall } from '../test/support/faultProxy.js'

/** Calls by what was asked: a method, and of those that the service asks for several reasons what tells them apart. */
export type Tally = Map<string, number>

/** A way to a node that counts what passes. */
type Door = { urls: Record<ChainName, string>; tally: Tally }

export type CountedNodes = Awaited<ReturnType<typeof startCountedNodes>>

/**
 * The devnet's nodes with the block times of `npm start`, and two doors to all of them, one for the service
 * and one for the script that it is compared with.
 */
export async function startCountedNodes() {
  const nodes = await Promise.all(
    chainNames.map(async (name) => {
      const { chainId } = createRegistry('testnet').get(name)
      const blockTimeSeconds = devnetTerms[name].blockSeconds
      return { name, ...(await startAnvil({ chainId, blockTimeSeconds, mining: 'tended' })) }
    }),
  )
  const stops: (() => Promise<void>)[] = []
  const open = async (): Promise<Door> => {
    const tally: Tally = new Map()
    const count = (call: RpcCall) => {
      const kind = kindOf(call)
      tally.set(kind, (tally.get(kind) ?? 0) + 1)
      return undefined
    }
    const urls = await Promise.all(
      nodes.map(async ({ name, url }) => {
        const proxy = await startFaultProxy(url)
        proxy.set(count)
        stops.push(proxy.stop)
        return [name, proxy.url] as const
      }),
    )
    return { tally, urls: Object.fromEntries(urls) as Door['urls'] }
  }
  const [service, script] = [await open(), await open()]
  return {
    service,
    script,
    async stop() {
      for (const stop of stops) await stop()
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}

/** Planning reads contracts at the hash of a block, the signer at its number; heads are the lanes' and the signer's. */
function kindOf({ method, params }: RpcCall): string {
  if (method !== 'eth_call' && method !== 'eth_getBlockByNumber') return method
  const block = method === 'eth_call' ? params[1] : params[0]
  if (typeof block !== 'string') return `${method} (hash)`
  return `${method} (${block.startsWith('0x') ? 'number' : block})`
}

/** How many calls a tally holds. */
export const sumOf = (tally: Tally) => [...tally.values()].reduce((sum, count) => sum + count, 0)
