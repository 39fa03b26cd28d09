import { Interface } from 'ethers'
import { connectChains, type Chains } from '../../evm/connect.js'
import { MULTICALL_ADDRESS } from '../../evm/calls/multicall.js'
import { chainNames, type ChainName } from '../../evm/registry.js'
import {
  startFaultProxy,
  type RpcFault,
  type FaultProxy,
  type RpcRequest,
} from '../support/faultProxy.js'
import type { TestChains } from './chains.js'

/** A call of a contract, alone or in a batch; `block` as in JSON-RPC. */
type NodeCall = { chain: ChainName; to: string; data: string; block: unknown }

/** Chains as a new process sees them, and the requests that it makes. */
export type AskedChains = {
  chains: Chains
  /** Calls to the nodes, all of them or those of a method. */
  calls(chain: ChainName, method?: string): RpcRequest[]
  questions(): NodeCall[]
  /** Forgets earlier requests. */
  forget(): void
  /** Faults of the calls to a chain from now on. */
  fail(chain: ChainName, decide: ((call: RpcRequest) => RpcFault | undefined) | undefined): void
  stop(): Promise<void>
}

const multicall = new Interface([
  `function aggregate3(tuple(address target, bool allowFailure, bytes callData)[] calls) payable
    returns (tuple(bool success, bytes returnData)[] results)`,
])

export async function listenTo({ registry, urls }: TestChains): Promise<AskedChains> {
  const heard: { chain: ChainName; call: RpcRequest }[] = []
  const faults = new Map<ChainName, (call: RpcRequest) => RpcFault | undefined>()
  const schemes: FaultProxy[] = []
  const open = async (chain: ChainName) => {
    const scheme = await startFaultProxy(urls[chain])
    scheme.set((call) => {
      heard.push({ chain, call })
      return faults.get(chain)?.(call)
    })
    schemes.push(scheme)
    return [chain, scheme.url] as const
  }
  const schemeUrls = Object.fromEntries(await Promise.all(chainNames.map(open)))
  const chains = connectChains(registry, schemeUrls as Record<ChainName, string>)
  return {
    chains,
    calls: (chain, method) =>
      heard
        .filter((one) => one.chain === chain)
        .map(({ call }) => call)
        .filter((call) => method === undefined || call.method === method),
    questions: () =>
      heard
        .filter(({ call }) => call.method === 'eth_call')
        .flatMap(({ chain, call }) => questionsOf(call).map((one) => ({ chain, ...one }))),
    forget: () => void heard.splice(0),
    fail: (chain, decide) => void (decide ? faults.set(chain, decide) : faults.delete(chain)),
    async stop() {
      for (const client of chains.list) client.close()
      await Promise.all(schemes.map((scheme) => scheme.stop()))
    },
  }
}

function questionsOf({ params }: RpcRequest): Omit<NodeCall, 'chain'>[] {
  const [{ to, data }, block] = params as [{ to: string; data: string }, unknown]
  if (to !== MULTICALL_ADDRESS) return [{ to, data, block }]
  const [calls] = multicall.decodeFunctionData('aggregate3', data) as unknown as [
    { target: string; callData: string }[],
  ]
  return calls.map(({ target, callData }) => ({ to: target, data: callData, block }))
}
