import { FetchRequest, JsonRpcProvider, isError } from 'ethers'
import { ServiceError } from '../domain/errors.js'
import type { Chain, ChainName, Registry } from './registry.js'

/** Long enough for a busy public endpoint, short enough that a dead one delays nobody for long. */
const REQUEST_TIMEOUT_MS = 5_000

/** One chain and the way to ask it. Requests made in the same tick travel as one JSON-RPC batch. */
export type ChainClient = {
  chain: Chain
  /**
   * @throws {ServiceError} RPC_ERROR with `chain` and `method`; `reverted` is true when the node ran
   *   the call and it reverted, and `reason` is its text then. Never the URL: it may hold a key.
   */
  send<T>(method: string, params: unknown[]): Promise<T>
  close(): void
}

export type Chains = { list: ChainClient[]; byId(chainId: number | bigint): ChainClient }

export function connectChain(chain: Chain, url: string): ChainClient {
  const request = new FetchRequest(url)
  request.timeout = REQUEST_TIMEOUT_MS
  // ethers reads `Retry-After: 1` as one millisecond: no retries here, the callers have their own.
  request.setThrottleParams({ maxAttempts: 1 })
  const provider = new JsonRpcProvider(request, chain.chainId, {
    staticNetwork: true,
    batchMaxCount: 100,
    batchStallTime: 0,
    cacheTimeout: -1,
  })
  return {
    chain,
    async send<T>(method: string, params: unknown[]) {
      try {
        return (await provider.send(method, params)) as T
      } catch (error) {
        throw toRpcError(chain, method, error)
      }
    },
    close() {
      provider.destroy()
    },
  }
}

/** Clients of all chains of a deployment. */
export function connectChains(registry: Registry, rpcUrls: Record<ChainName, string>): Chains {
  const list = registry.chains.map((chain) => connectChain(chain, rpcUrls[chain.name]))
  return {
    list,
    byId(chainId) {
      const client = list.find(({ chain }) => chain.chainId === Number(chainId))
      if (!client) throw new Error(`No chain with id ${chainId} in this deployment.`)
      return client
    },
  }
}

/** The one place where errors of nodes are read. */
function toRpcError(chain: Chain, method: string, error: unknown): ServiceError {
  if (isError(error, 'CALL_EXCEPTION')) {
    const reason = error.reason ?? error.shortMessage
    const details = { chain: chain.name, method, reverted: true, reason, data: error.data }
    return new ServiceError('RPC_ERROR', `${chain.name} reverted ${method}: ${reason}`, details)
  }
  const answer = (error as { error?: { code?: unknown; message?: unknown } }).error
  const reason = typeof answer?.message === 'string' ? answer.message : 'no answer'
  const details = { chain: chain.name, method, reverted: false, reason }
  return new ServiceError('RPC_ERROR', `${chain.name} did not answer ${method}.`, details)
}

/** True when a node ran the call and it reverted, false when the node itself failed. */
export function isRevert(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.details.reverted === true
}

/**
 * Compares each endpoint's chain id with the registry.
 *
 * @returns Names of the chains that did not answer: they may come back, the others work meanwhile.
 * @throws Error when an endpoint serves another chain.
 */
export async function checkChainIds({ list }: Chains): Promise<string[]> {
  const silent: string[] = []
  for (const { chain, send } of list) {
    const answer = await send<string>('eth_chainId', []).catch(() => undefined)
    if (answer === undefined) silent.push(chain.name)
    else if (Number(answer) !== chain.chainId) {
      const served = Number(answer)
      throw new ServiceError(
        'MISCONFIGURED',
        `The RPC URL of ${chain.name} serves chain ${served}, not ${chain.chainId}.`,
      )
    }
  }
  return silent
}
