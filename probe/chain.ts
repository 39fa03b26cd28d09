import { MULTICALL_ADDRESS } from '../chains/multicall.js'
import { ServiceError } from '../domain/errors.js'
import { checkBridge } from './bridge.js'
import { checkCore } from './core.js'
import { checkFeed } from './feed.js'
import { failed, ok, openProbe, warning, type Row } from './look.js'
import { checkMarkets } from './markets.js'
import { checkSimulation } from './simulation.js'
import { checkSwaps } from './swaps.js'
import type { ChainClient } from '../chains/connect.js'
import type { Chain, Registry } from '../chains/registry.js'
import type { Finding } from '../domain/capability.js'

/** What is known of an endpoint, by its place among those of its chain. Never its URL: it may hold a key. */
export type EndpointState = { position: number; state: 'ok' | 'silent' | 'other chain' }

/** `answered`: false when the chain said too little to judge it. */
export type ChainReport = {
  chain: string
  answered: boolean
  endpoints: EndpointState[]
  findings: Finding[]
}

/**
 * Compares a chain with what the registry says of it, in three round trips at most. Nothing is sent. A chain that
 * does not answer is not judged: its only row is a warning.
 */
export async function probeChain(client: ChainClient, registry: Registry): Promise<ChainReport> {
  const { chain } = client
  const endpoints = await Promise.all(client.endpoints.map(stateOf))
  const report = (answered: boolean, rows: Row[]): ChainReport => {
    const told = [...endpointRows(chain, endpoints), ...rows]
    const findings = told.map((row) => ({ chain: chain.name, ...row }))
    return { chain: chain.name, answered, endpoints, findings }
  }
  if (endpoints.every(({ state }) => state === 'silent')) return report(false, [])
  // Whoever asks another chain about these contracts learns nothing.
  if (endpoints.every(({ state }) => state !== 'ok')) return report(true, [])
  try {
    return report(true, await checkContracts(client, registry))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return report(false, [warning('answers', 'node', 'the node stopped answering')])
  }
}

async function stateOf({ chain, send }: ChainClient, index: number): Promise<EndpointState> {
  const position = index + 1
  const answer = await send<string>('eth_chainId', []).catch(() => undefined)
  if (answer === undefined) return { position, state: 'silent' }
  return { position, state: Number(answer) === chain.chainId ? 'ok' : 'other chain' }
}

/** One that serves another chain harms nothing while there is one that does not: it is not asked. */
function endpointRows({ chainId }: Chain, endpoints: EndpointState[]): Row[] {
  const capability = endpoints.some(({ state }) => state === 'ok') ? 'endpoint' : 'node'
  return endpoints.map(({ position, state }) => {
    const check = `endpoint ${position}`
    if (state === 'ok') return ok(check, 'node', `serves chain ${chainId}`)
    if (state === 'silent') return warning(check, capability, 'does not answer')
    return failed(check, capability, `endpoint ${position} serves another chain than ${chainId}`)
  })
}

async function checkContracts(client: ChainClient, registry: Registry): Promise<Row[]> {
  const probe = await openProbe(client, registry)
  const core = checkCore(probe)
  // Without it nothing else can be read.
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
