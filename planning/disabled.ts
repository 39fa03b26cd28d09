import { disabledBecause, type ChainClient } from '../evm/connect.js'
import { capabilityDisabled, type ServiceError } from '../domain/errors.js'
import { isLack } from '../domain/plan/insufficientFunds.js'
import { disabledMarket, isThere } from '../evm/lending/markets.js'
import { whyNoBridge } from './routes.js'
import type { IntentRequest } from '../domain/intent/intent.js'
import type { DisabledPart, MarketState } from '../domain/plan/market.js'

/** Chains that a request names. */
export function chainsNamedBy(request: IntentRequest): string[] {
  switch (request.action) {
    case 'lend':
      return request.chain ? [request.chain] : []
    case 'withdraw':
      return [request.chain]
    case 'bridge':
      return [request.fromChain, request.toChain]
  }
}

/**
 * Rejects a request that needs a disabled part.
 *
 * @throws {ServiceError} UNAVAILABLE with the reason `capability_disabled`.
 */
export function assertEnabled(request: IntentRequest, clients: ChainClient[]): void {
  const named = chainsNamedBy(request).flatMap((name) => find(clients, name) ?? [])
  for (const client of named) {
    const why = disabledBecause(client, 'chain')
    if (why) throw capabilityDisabled(`Nothing can be done on ${client.chain.name}`, why)
  }
  const [from, to] = named
  const why = request.action === 'bridge' && from && to && whyNoBridge(from, to)
  if (why) throw capabilityDisabled(`Nothing can be bridged from ${from.chain.name}`, why)
}

/** Listed chains and markets that are disabled. A missing candidate market is not listed. */
export function listDisabled(clients: ChainClient[]): DisabledPart[] {
  return clients.flatMap((client): DisabledPart[] => {
    const chain = client.chain.name
    const why = disabledBecause(client, 'chain')
    if (why) return [{ chain, why }]
    return client.chain.markets
      .filter(({ isCandidate }) => !isCandidate)
      .map((market) => ({ market, why: disabledMarket(client, market) }))
      .flatMap(({ market: { protocol }, why }) => (why ? [{ chain, protocol, why }] : []))
  })
}

type PlanningState = { state: MarketState; clients: ChainClient[] }

/** Converts an error that may be caused by a disabled part to `capability_disabled`. Returns other errors unchanged. */
export function explainRefusal(
  error: unknown,
  request: IntentRequest,
  { state, clients }: PlanningState,
): unknown {
  const what = `The ${request.action} cannot be done`
  if (request.action === 'lend') {
    const idle = isLack(error) && findIdle(request.amountUnits, state)
    if (idle) return capabilityDisabled(what, idle.why)
    const isAsked = ({ chain }: { chain: string }) => !request.chain || chain === request.chain
    const { disabled = [], unreadable = [] } = state
    const [part] = state.rates.some(isAsked) ? [] : [...disabled, ...unreadable].filter(isAsked)
    return part ? capabilityDisabled(what, part.why) : error
  }
  const client = request.action === 'withdraw' ? find(clients, request.chain) : undefined
  const why = client && whyNotWithdrawable(client, request, state)
  return why ? capabilityDisabled(what, why) : error
}

/** A paused chain that has the amount, or may have it. */
const findIdle = (amountUnits: bigint, { paused = [] }: MarketState) =>
  paused.find(({ availableUnits = amountUnits }) => availableUnits >= amountUnits)

/** The error when all chains are disabled. */
export function allDisabled({ action }: IntentRequest, clients: ChainClient[]): ServiceError {
  const [part] = listDisabled(clients)
  return capabilityDisabled(`The ${action} cannot be done`, part?.why ?? 'there is no chain')
}

/** Why a position in a market of the chain may not be withdrawable. */
function whyNotWithdrawable(
  client: ChainClient,
  { asset: wanted }: IntentRequest,
  { positions, unreadable = [] }: MarketState,
): string | undefined {
  const { name, markets } = client.chain
  const unknown = unreadable.find(({ chain }) => chain === name)
  if (unknown) return unknown.why
  const missing = markets.find((market) => !isThere(client, market))
  if (missing) return disabledBecause(client, `market:${missing.address}`)
  const isSwapped = positions.some(({ chain, asset }) => chain === name && asset !== wanted)
  return isSwapped ? disabledBecause(client, 'swaps') : undefined
}

const find = (clients: ChainClient[], name: string) =>
  clients.find(({ chain }) => chain.name === name)
