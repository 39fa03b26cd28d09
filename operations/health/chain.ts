import { MULTICALL_ADDRESS } from '../../evm/calls/multicall.js'
import { ServiceError } from '../../domain/errors.js'
import { checkBridge } from './bridge.js'
import { checkCore } from './core.js'
import { checkFeed } from './priceFeed.js'
import { failed, ok, openProbe, warning, type CheckResult } from './look.js'
import { checkMarkets } from './markets.js'
import { checkSimulation } from './simulation.js'
import { checkSwaps } from './swaps.js'
import type { ChainClient } from '../../evm/connect.js'
import type { Chain, Registry } from '../../evm/registry.js'
import type { Finding } from '../../domain/capability.js'

/** The state of an endpoint. `position` counts from 1. The URL is omitted, because it may contain an API key. */
export type EndpointState = {
  position: number
  state: 'ok' | 'silent' | 'throttled' | 'other chain'
}

/** `answered`: false when the node answered too few requests for a result. */
export type ChainReport = {
  chain: string
  answered: boolean
  endpoints: EndpointState[]
  findings: Finding[]
}

export type FurtherCheck = (client: ChainClient) => Promise<CheckResult[]>

/**
 * Compares a chain with its registry entry, in at most three round trips. Sends no transaction. A chain that does not
 * answer gets a warning as its only finding.
 *
 * @param further - Checks that only the doctor makes.
 */
export async function probeChain(
  client: ChainClient,
  registry: Registry,
  further: FurtherCheck = () => Promise.resolve([]),
): Promise<ChainReport> {
  const { chain } = client
  const endpoints = await Promise.all(client.endpoints.map(stateOf))
  const report = (answered: boolean, rows: CheckResult[]): ChainReport => {
    const all = [...endpointRows(chain, endpoints), ...rows]
    const findings = all.map((row) => ({ chain: chain.name, ...row }))
    return { chain: chain.name, answered, endpoints, findings }
  }
  const isSilent = ({ state }: EndpointState) => state === 'silent' || state === 'throttled'
  if (endpoints.every(isSilent)) return report(false, [])
  // Contracts on another chain are irrelevant.
  if (endpoints.every(({ state }) => state !== 'ok')) return report(true, [])
  try {
    const rows = await Promise.all([checkContracts(client, registry), further(client)])
    return report(true, rows.flat())
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return report(false, [warning('answers', 'node', 'the node stopped answering')])
  }
}

async function stateOf(endpoint: ChainClient, index: number): Promise<EndpointState> {
  const position = index + 1
  const answer = await endpoint.send<string>('eth_chainId', []).catch(() => undefined)
  if (answer === undefined) {
    return { position, state: endpoint.throttledUntil() === undefined ? 'silent' : 'throttled' }
  }
  return { position, state: Number(answer) === endpoint.chain.chainId ? 'ok' : 'other chain' }
}

/** An endpoint of another chain receives no requests, so it is harmless while another endpoint is `ok`. */
function endpointRows({ chainId }: Chain, endpoints: EndpointState[]): CheckResult[] {
  const capability = endpoints.some(({ state }) => state === 'ok') ? 'endpoint' : 'node'
  return endpoints.map(({ position, state }) => {
    const check = `endpoint ${position}`
    if (state === 'ok') return ok(check, 'node', `serves chain ${chainId}`)
    if (state === 'silent') return warning(check, capability, 'does not answer')
    if (state === 'throttled') return warning(check, capability, 'throttles requests')
    return failed(check, capability, `endpoint ${position} serves another chain than ${chainId}`)
  })
}

async function checkContracts(client: ChainClient, registry: Registry): Promise<CheckResult[]> {
  const probe = await openProbe(client, registry)
  const core = checkCore(probe)
  // All other checks read through Multicall3.
  if (!probe.hasCode(MULTICALL_ADDRESS)) return core
  const rows = await Promise.all([
    core,
    checkSimulation(probe),
    checkMarkets(probe),
    checkBridge(probe),
    checkSwaps(probe),
    checkFeed(probe),
  ])
  return rows.flat()
}
