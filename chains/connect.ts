import { AbiCoder, FetchRequest, JsonRpcProvider, isError } from 'ethers'
import { ServiceError } from '../domain/errors.js'
import { whyNot, type Capability, type Finding } from '../domain/capability.js'
import type { Chain, ChainName, Registry } from './registry.js'

/** Long enough for a busy public endpoint, short enough that a dead one delays nobody for long. */
const REQUEST_TIMEOUT_MS = 5_000

/** One chain and the way to ask it. Requests made in the same tick travel as one JSON-RPC batch. */
export type ChainClient = {
  chain: Chain
  /**
   * @throws {ServiceError} RPC_ERROR with `chain`, `method` and `reason`; `answered` is true when the
   *   node itself said no, `reverted` when it ran the call and the call reverted. Never the URL: it may
   *   hold a key.
   */
  send<T>(method: string, params: unknown[]): Promise<T>
  /** The chain through each of its endpoints alone, the preferred one first. */
  endpoints: ChainClient[]
  /** What the latest probe has found here; nothing until there was one. */
  condition: { findings: readonly Finding[] }
  close(): void
}

/** Why a capability of the chain is disabled, as the latest probe has it; undefined when it is not. */
export const disabledBecause = (
  { condition }: Pick<ChainClient, 'condition'>,
  capability: Capability,
): string | undefined => whyNot(condition.findings, capability)

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
  const client: ChainClient = {
    chain,
    async send<T>(method: string, params: unknown[]) {
      try {
        return (await provider.send(method, params)) as T
      } catch (error) {
        throw toRpcError(chain, method, error)
      }
    },
    endpoints: [],
    condition: { findings: [] },
    close() {
      provider.destroy()
    },
  }
  client.endpoints.push(client)
  return client
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
  const { name } = chain
  if (isError(error, 'CALL_EXCEPTION')) {
    const { reason, shortMessage, data } = error
    return reverted(name, method, { reason: reason ?? shortMessage, data })
  }
  const answer = answerIn(error)
  // ethers does not see a revert that brings no data, as of an assertion or an empty require.
  const runs = method === 'eth_call' || method === 'eth_estimateGas'
  if (runs && answer && (answer.code === REVERT_CODE || /revert/i.test(answer.message))) {
    return reverted(name, method, { reason: answer.message, data: null })
  }
  const details = { chain: name, method, answered: answer !== undefined, reverted: false }
  const reason = answer?.message ?? 'no answer'
  return new ServiceError('RPC_ERROR', `${name} did not answer ${method}.`, { ...details, reason })
}

/** @see https://ethereum.github.io/execution-apis/ error code 3: execution error */
const REVERT_CODE = 3

/** Why a call was reverted, and what it returned. */
type Revert = { reason: string; data: string | null }

function reverted(chain: string, method: string, { reason, data }: Revert): ServiceError {
  const details = { chain, method, answered: true, reverted: true, reason, data }
  return new ServiceError('RPC_ERROR', `${chain} reverted ${method}: ${reason}`, details)
}

/** The error of a call that reverted inside another one, with what it returned. */
export function revertedWith({ chain }: ChainClient, data: string): ServiceError {
  const transaction = { to: null, data: '0x' }
  const { reason, shortMessage } = AbiCoder.getBuiltinCallException('call', transaction, data)
  return reverted(chain.name, 'eth_call', { reason: reason ?? shortMessage, data })
}

/** The JSON-RPC error inside an error of ethers, which wraps it once or twice; undefined without one. */
function answerIn(error: unknown): { code: unknown; message: string } | undefined {
  const { error: direct, info } = error as { error?: unknown; info?: { error?: unknown } }
  const answer = (direct ?? info?.error) as { code?: unknown; message?: unknown } | undefined
  if (typeof answer?.message !== 'string') return undefined
  return { code: answer.code, message: answer.message }
}

/** True when the node itself refused, false when it is unknown whether the request has reached it. */
export function didAnswer(error: unknown): boolean {
  return error instanceof ServiceError && error.details.answered === true
}

/** True when a node ran the call and it reverted, false when the node itself failed. */
export function isRevert(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.details.reverted === true
}
