import { whyNot, type Capability, type Finding } from '../domain/capability.js'
import { rpcVariable, type Chain, type ChainName, type Registry } from './registry.js'
import { createEndpoint } from './rpc/endpoint.js'
import { toRpcError, toSilence } from './rpc/errors.js'
import { createHeads, inStep, type HeadsListener } from './rpc/heads.js'
import { type HealthListener } from './rpc/health.js'
import { askPool, type Pool } from './rpc/pool.js'
import { usualWaits, type RpcWaits } from './rpc/waits.js'
import type { PartLog } from '../runtime/log.js'

export {
  didAnswer,
  isContractFault,
  isRefusedForGood,
  isRevert,
  revertedWith,
} from './rpc/errors.js'

/** Client of one chain. Requests made in the same tick share one JSON-RPC batch. */
export type ChainClient = {
  chain: Chain
  /**
   * @throws {ServiceError} RPC_ERROR with `chain`, `method` and `reason`. `answered`: the node itself returned an
   *   error. `reverted`: the node ran the call and it reverted. Never the URL, which may hold a key.
   */
  send<T>(method: string, params: unknown[]): Promise<T>
  /** The chain through each of its endpoints separately, the preferred one first. */
  endpoints: ChainClient[]
  /** Findings of the latest probe; empty before the first one. */
  condition: { findings: readonly Finding[] }
  /** The endpoints that answer and are in step; if there are none, all that are on no fork. */
  inStep(): ChainClient[]
  /** Unix time in ms at which the first of its endpoints accepts requests; undefined while one of them does. */
  throttledUntil(): number | undefined
  /** The most calls in one request that the preferred endpoint is known to accept. */
  mostCalls(): number
  close(): void
}

/** Why a capability of the chain is disabled, by the latest probe; undefined when it is enabled. */
export const disabledBecause = (
  { condition }: Pick<ChainClient, 'condition'>,
  capability: Capability,
): string | undefined => whyNot(condition.findings, capability)

export type Chains = { list: ChainClient[]; byId(chainId: number | bigint): ChainClient }

/** One RPC URL of a chain, or several, the preferred one first. */
type Urls = string | string[]

/** `compareMs`: how often several endpoints are compared. `waits`: changed timeouts. */
export type ConnectOptions = {
  log?: PartLog | undefined
  compareMs?: number
  waits?: Partial<RpcWaits>
}

/**
 * @param urls - With several, the first healthy one is asked, and the next ones when it fails. Each one is also a
 *   client of its own in `endpoints`. Such a client fails at once while its endpoint is unavailable.
 */
export function connectChain(
  chain: Chain,
  urls: Urls,
  { log, compareMs, waits: changes }: ConnectOptions = {},
): ChainClient {
  const waits = { ...usualWaits, ...changes }
  const { timeoutMs } = waits
  const heads = createHeads(chain.chainId, headsListener(chain, log), compareMs)
  const endpoints = [urls].flat().map((url, i) => {
    return createEndpoint(url, i + 1, { ...healthListener(chain, i + 1, log), waits })
  })
  const all: Pool = { endpoints, siblings: endpoints, heads, timeoutMs }
  if (endpoints.length === 1) return clientOf(chain, all)
  const pools = endpoints.map((endpoint) => ({ ...all, endpoints: [endpoint] }))
  const alone = new Map(pools.map((pool, i) => [endpoints[i], clientOf(chain, pool)]))
  const whole = clientOf(chain, all)
  whole.endpoints = [...alone.values()]
  whole.inStep = () => inStep(heads, endpoints).flatMap((endpoint) => alone.get(endpoint) ?? [])
  return whole
}

function clientOf(chain: Chain, pool: Pool): ChainClient {
  const client: ChainClient = {
    chain,
    async send<T>(method: string, params: unknown[]) {
      const reply = await askPool(pool, method, params).catch((error: unknown) => {
        throw toSilence(chain, method, error)
      })
      if ('error' in reply) throw toRpcError(chain, method, reply.error)
      return reply.result as T
    },
    endpoints: [],
    inStep: () => client.endpoints,
    throttledUntil() {
      const first = Math.min(...pool.endpoints.map(({ health }) => health.restsUntil()))
      return first > Date.now() ? first : undefined
    },
    mostCalls: () => pool.endpoints[0]?.mostCalls() ?? 0,
    condition: { findings: [] },
    close() {
      for (const endpoint of pool.endpoints) endpoint.close()
    },
  }
  client.endpoints = [client]
  return client
}

/** Clients of all chains of a deployment. */
export function connectChains(
  registry: Registry,
  rpcUrls: Record<ChainName, Urls>,
  log?: PartLog,
): Chains {
  const list = registry.chains.map((chain) => connectChain(chain, rpcUrls[chain.name], { log }))
  return {
    list,
    byId(chainId) {
      const client = list.find(({ chain }) => chain.chainId === Number(chainId))
      if (!client) throw new Error(`No chain with id ${chainId} in this deployment.`)
      return client
    },
  }
}

/** A name without any part of the URL, which may hold a key. */
const nameEndpoint = ({ name }: Chain, position: number) =>
  `endpoint ${position} of ${rpcVariable(name)}`

function healthListener({ name: chain }: Chain, endpoint: number, log?: PartLog): HealthListener {
  return {
    away: (reason) => log?.warn({ chain, endpoint, reason }, 'endpoint unavailable'),
    back: () => log?.info({ chain, endpoint }, 'endpoint available again'),
    throttled(restMs) {
      const facts = { chain, endpoint, restSeconds: Math.round(restMs / 1_000) }
      log?.warn(facts, 'requests throttled by endpoint')
    },
  }
}

function headsListener(chain: Chain, log?: PartLog): HeadsListener {
  return {
    changed(endpoint, state) {
      const facts = { chain: chain.name, endpoint }
      if (state === 'in step') log?.info(facts, 'endpoint in step with the others')
      else log?.warn({ ...facts, state }, 'endpoint not in step with the others')
    },
    refused(endpoint, served) {
      const message = `${nameEndpoint(chain, endpoint)} serves chain ${served} and is ignored`
      log?.error({ chain: chain.name, endpoint, served }, message)
    },
  }
}
