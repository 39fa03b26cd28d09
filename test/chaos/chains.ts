import { setTimeout as sleep } from 'node:timers/promises'
import { toQuantity } from 'ethers'
import { chainFacts, chainNames, pricing, type ChainName } from '../../evm/registry.js'
import { startAnvil } from '../../dev/devnet/anvil.js'
import { devnetTerms } from '../../dev/devnet/chains.js'
import { startFront } from '../../dev/devnet/rollup/front.js'
import { callRpc, callRpcBatch, type RpcCall } from '../../dev/devnet/rpc.js'
import { startFaultProxy, type RpcFault, type FaultProxy } from '../support/faultProxy.js'
import { seededFaults, type FaultRates } from '../support/seededFaults.js'
import { drawsOf, type Draws } from './draws.js'

/** The same for all chains, so that a machine of two cores stays busy with the service. */
const BLOCK_MS = 500
/** Below the devnet's finality depth of 16 blocks. Indexing trusts one block. */
const DEEPEST_REORG = 8
const SPIKE_FACTOR = 8n
const SPIKE_BLOCKS = 16
/** Outage of one of a chain's two endpoints. */
const OUTAGE_MS = 6_000

const perRequest: [RpcFault, number][] = [
  ['http500', 0.02],
  [{ status: 503, retryAfter: '1' }, 0.006],
  [{ status: 429, retryAfter: '1' }, 0.008],
  ['reset', 0.02],
  ['garbage', 0.006],
  [{ delayMs: 400 }, 0.03],
  ['silence', 0.003],
]
const perCall: [RpcFault, number][] = [
  ['stale', 0.008],
  [{ error: { code: -32005, message: 'daily request count exceeded' } }, 0.002],
]
const rates: FaultRates = { perRequest, perCall, lostReply: 0.1, widest: 31 }

/** Disturbances of the chains. Reorgs by depth. */
export type Shakes = { reorgs: number[]; drops: number; spikes: number; outages: number }

export type StormyChain = {
  name: ChainName
  nodeUrl: string
  urls: string[]
  proxies: FaultProxy[]
}
export type StormyChains = Awaited<ReturnType<typeof startStormyChains>>

/**
 * The devnet's chains, mined here, each behind two endpoints with injected faults. `nodeUrl` is the address of the
 * node itself, which never fails, for observers.
 */
export async function startStormyChains(seed: string) {
  const shakes: Shakes = { reorgs: [], drops: 0, spikes: 0, outages: 0 }
  const started = await Promise.all(chainNames.map(startChain))
  const over = new AbortController()
  /** Set while the storm lasts. */
  let isStormy = false
  const mining = started.map((chain) =>
    mine(chain, drawsOf(seed, `chain ${chain.name}`), () => isStormy, shakes, over.signal),
  )
  return {
    list: started.map(({ name, nodeUrl, urls, proxies }): StormyChain => {
      return { name, nodeUrl, urls, proxies }
    }),
    shakes,
    /** Faults of all endpoints since the start, by kind. */
    countFaults: () => sumCounts(started.flatMap(({ proxies }) => proxies)),
    begin() {
      isStormy = true
      for (const { name, proxies } of started) {
        proxies.forEach((proxy, i) => proxy.set(faultsOf(drawsOf(seed, `rpc ${name} ${i}`))))
      }
    },
    /** Takes one endpoint of a chain down for some seconds. */
    async cutOff(draws: Draws, signal: AbortSignal): Promise<void> {
      const { name, proxies } = started[draws.between(0, started.length - 1)] as StartedChain
      const index = draws.between(0, 1)
      shakes.outages++
      proxies[index]?.set(() => 'reset')
      await sleep(OUTAGE_MS, undefined, { signal }).catch(() => undefined)
      if (isStormy) proxies[index]?.set(faultsOf(drawsOf(seed, `rpc ${name} ${shakes.outages}`)))
    },
    calm() {
      isStormy = false
      for (const { proxies } of started) for (const proxy of proxies) proxy.set(undefined)
    },
    /** Resolves once everything mined so far is final. */
    async settle(): Promise<void> {
      const heads = await Promise.all(started.map(({ nodeUrl }) => readHead(nodeUrl, 'latest')))
      for (const [i, { nodeUrl }] of started.entries()) {
        while ((await readHead(nodeUrl, 'finalized')) < (heads[i] ?? 0)) await sleep(BLOCK_MS)
      }
    },
    async stop() {
      over.abort()
      await Promise.all(mining)
      await Promise.all(started.map(({ stop }) => stop()))
    },
  }
}

type StartedChain = Awaited<ReturnType<typeof startChain>>

async function startChain(name: ChainName) {
  const { baseFeeWei } = devnetTerms[name]
  const node = await startAnvil({ chainId: chainFacts[name].chainId, baseFeeWei })
  await callRpc(node.url, 'evm_setAutomine', [false])
  const { rollup: kind } = pricing[name]
  const front = kind && (await startFront({ kind, target: node.url }))
  const nodeUrl = front?.url ?? node.url
  const proxies = [await startFaultProxy(nodeUrl), await startFaultProxy(nodeUrl)]
  const stop = async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    await front?.stop()
    await node.stop()
  }
  const urls = proxies.map(({ url }) => url)
  return { name, nodeUrl, ownUrl: node.url, urls, proxies, stop }
}

const readHead = async (url: string, at: 'latest' | 'finalized') =>
  Number((await callRpc<{ number: string }>(url, 'eth_getBlockByNumber', [at, false])).number)

/**
 * Mines, and reorganises the chain during the storm. One loop does both: a reorg during a concurrent block leaves
 * holes in anvil's chain, which no real chain has.
 */
async function mine(
  { name, ownUrl }: StartedChain,
  draws: Draws,
  isStormy: () => boolean,
  shakes: Shakes,
  stopping: AbortSignal,
): Promise<void> {
  const usual = devnetTerms[name].baseFeeWei
  let spiked = 0
  while (!stopping.aborted) {
    await sleep(BLOCK_MS, undefined, { signal: stopping }).catch(() => undefined)
    const fee = spiked-- > 0 ? usual * SPIKE_FACTOR : usual
    const next: RpcCall[] = [
      ['anvil_setNextBlockBaseFeePerGas', [toQuantity(fee)]],
      ['evm_mine', []],
    ]
    await callRpcBatch(ownUrl, next).catch(() => undefined)
    if (!isStormy()) continue
    const what = draws.pick([
      ['nothing', 90],
      ['reorg', 5],
      ['drop', 4],
      ['spike', 1],
    ])
    if (what === 'reorg') {
      const depth = draws.between(1, DEEPEST_REORG)
      await callRpc(ownUrl, 'anvil_reorg', [depth, []]).then(() => shakes.reorgs.push(depth))
    } else if (what === 'drop') {
      await callRpc(ownUrl, 'anvil_dropAllTransactions').then(() => shakes.drops++)
    } else if (what === 'spike' && spiked <= 0) {
      spiked = SPIKE_BLOCKS
      shakes.spikes++
    }
  }
}

const faultsOf = (draws: Draws) => seededFaults(draws, rates)

function sumCounts(proxies: FaultProxy[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { counts } of proxies) {
    for (const [kind, count] of Object.entries(counts)) sums[kind] = (sums[kind] ?? 0) + count
  }
  return sums
}
