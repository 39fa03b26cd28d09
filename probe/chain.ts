import { Interface, type Result } from 'ethers'
import { isRevert, type ChainClient } from '../chains/connect.js'
import { MULTICALL_ADDRESS, callTogether } from '../chains/multicall.js'
import {
  DELEGATE_ADDRESS,
  ENTRY_POINT_ADDRESS,
  tokensOf,
  type Chain,
  type Registry,
} from '../chains/registry.js'
import { ServiceError } from '../domain/errors.js'
import { checkBridge } from './bridge.js'
import { checkCore } from './core.js'
import { checkFeed } from './feed.js'
import { checkMarkets } from './markets.js'
import { checkSimulation } from './simulation.js'
import { checkSwaps } from './swaps.js'
import type { Capability, Finding } from '../domain/capability.js'

/** What is known of an endpoint, by its place among those of its chain. Never its URL: it may hold a key. */
export type EndpointState = { position: number; state: 'ok' | 'silent' | 'other chain' }

/** `answered`: false when the chain said too little to judge it. */
export type ChainReport = {
  chain: string
  answered: boolean
  endpoints: EndpointState[]
  findings: Finding[]
}

/** A view function to be asked. */
export type Question = { to: string; abi: Interface; name: string; args?: unknown[] }

/** What the checks of one chain work with. */
export type Probe = {
  client: ChainClient
  chain: Chain
  registry: Registry
  hasCode(address: string): boolean
  codeAt(address: string): string
  /**
   * The results of a view function; undefined when there is no such contract, or another one.
   *
   * @throws {ServiceError} RPC_ERROR when the node does not answer, which tells nothing of the contract.
   */
  read(question: Question): Promise<Result | undefined>
}

/** A row of the report. */
export type Row = Omit<Finding, 'chain'>

export const ok = (check: string, capability: Capability, detail: string): Row => ({
  ...{ check, capability, detail },
  outcome: 'ok',
})
export const warning = (check: string, capability: Capability, detail: string): Row => ({
  ...{ check, capability, detail },
  outcome: 'warning',
})
export const failed = (check: string, capability: Capability, detail: string): Row => ({
  ...{ check, capability, detail },
  outcome: 'failed',
})

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

async function openProbe(client: ChainClient, registry: Registry): Promise<Probe> {
  const { chain } = client
  const addresses = addressesOf(chain)
  const codes = await Promise.all(
    addresses.map((address) => client.send<string>('eth_getCode', [address, 'latest'])),
  )
  const codeOf = new Map(addresses.map((address, i) => [address, codes[i] ?? '0x']))
  const codeAt = (address: string) => codeOf.get(address) ?? '0x'
  return {
    ...{ client, chain, registry, codeAt },
    hasCode: (address) => codeAt(address) !== '0x',
    async read({ to, abi, name, args = [] }) {
      const data = abi.encodeFunctionData(name, args)
      const answer = await callTogether(client, { to, data }, 'latest').catch((error: unknown) => {
        if (isRevert(error)) return '0x'
        throw error
      })
      try {
        return abi.decodeFunctionResult(name, answer)
      } catch {
        return undefined
      }
    },
  }
}

/** Every address of the registry's chain, once. */
export function addressesOf(chain: Chain): string[] {
  const { cctp, uniswap, markets, ethUsdFeed } = chain
  const places = [
    ...[MULTICALL_ADDRESS, ENTRY_POINT_ADDRESS, DELEGATE_ADDRESS],
    ...tokensOf(chain).map(({ address }) => address),
    ...markets.flatMap(({ address, underlying, receiptToken, lendsTo }) => [
      ...[address, underlying, receiptToken],
      ...(lendsTo ? [lendsTo.pool, lendsTo.aToken] : []),
    ]),
    ...[cctp.tokenMessenger, cctp.messageTransmitter, ethUsdFeed],
    ...(uniswap ? [uniswap.factory, uniswap.quoter, uniswap.router] : []),
  ]
  return [...new Set(places)]
}
