import { askTwice } from '../../evm/rpc/askTwice.js'
import { didAnswer, type ChainClient } from '../../evm/connect.js'
import { ServiceError } from '../../domain/errors.js'
import { assetText } from '../../domain/money.js'
import { failureCodes } from '../../domain/intent/operation.js'
import { BOUNDLESS, lendingProtocol, marketsSharing, poolOf } from '../../evm/lending/markets.js'
import type { Market } from '../../evm/registry.js'
import type { Operation } from '../../operations/operations.js'
import type { Direction } from '../../evm/lending/lending.js'
import type { Held } from '../../domain/intent/waiting.js'
import type { SigningContext } from '../signingContext.js'

/**
 * The capacity that an operation needs and shares with others: `units` of at most `limit` at the head of the signing
 * context. A limit of zero admits one operation at a time.
 */
export type CapacityDemand = {
  /** The key to lock while the decision is made. */
  key: string
  /** The resources that share the limit. */
  resources: string[]
  units: bigint
  limit: bigint
  market?: Market
}

type MarketContext = Pick<SigningContext, 'client' | 'head'>

/**
 * What an operation contends for at the head of the signing context; undefined when capacity is unlimited. Swaps of
 * one pair run one at a time: two would both be quoted the price before either. A pair counts as one because its
 * pools follow each other. Burns of one wallet run one at a time, because their messages would be indistinguishable.
 *
 * @throws {ServiceError} RPC_ERROR when the node does not answer.
 */
export async function readCapacityDemand(
  place: MarketContext,
  operation: Operation,
): Promise<CapacityDemand | undefined> {
  const { kind, resource, inputUnits } = operation
  if (!resource) return undefined
  const units = BigInt(inputUnits ?? 0)
  if (kind === 'swap' || kind === 'bridge') {
    return { key: resource, resources: [resource], units, limit: 0n }
  }
  if (kind !== 'deposit' && kind !== 'withdraw') return undefined
  const { markets } = place.client.chain
  const market = markets.find(({ address }) => resource === `${kind}:${address.toLowerCase()}`)
  if (!market) return undefined
  const limit = await readLimit(place, market, kind)
  if (limit >= BOUNDLESS) return undefined
  const sharing = marketsSharing(place.client.chain, market)
  const resources = sharing.map(({ address }) => `${kind}:${address.toLowerCase()}`)
  return { key: `${kind}:${poolOf(market)}`, resources, units, limit, market }
}

/** Zero where the market does not report its limit. Operations are then simulated one at a time. */
async function readLimit(
  { client, head }: MarketContext,
  market: Market,
  direction: Direction,
): Promise<bigint> {
  const protocol = lendingProtocol(market)
  const at = { blockNumber: head }
  const ask = () =>
    direction === 'deposit'
      ? protocol.readCapacity(client, market, at)
      : protocol.readCash(client, market, at)
  try {
    return (await askTwice(ask, didAnswer)) ?? 0n
  } catch (error) {
    if (didAnswer(error)) return 0n
    throw error
  }
}

/**
 * Excludes refusals that come only from missing market capacity or cash, because both return.
 *
 * @throws {ServiceError} DEPOSIT_FAILED or WITHDRAW_FAILED for such a refusal; RPC_ERROR.
 */
export async function assertNotShort(
  { client, head }: MarketContext,
  { kind }: Operation,
  demand: CapacityDemand | undefined,
): Promise<void> {
  if (!demand?.market || demand.units <= demand.limit) return
  if (kind !== 'deposit' && kind !== 'withdraw') return
  const at = { direction: kind, block: { blockNumber: head } }
  if (await lendingProtocol(demand.market).isClosed(client, demand.market, at)) return
  const details = { waitsFor: 'MARKET_ROOM' } satisfies Held
  throw new ServiceError(failureCodes[kind], shortage(client, kind, demand), details)
}

/** A message with the limit of the market and the units that the operation needs. */
export function shortage(
  { chain }: ChainClient,
  direction: Direction,
  demand: CapacityDemand,
): string {
  const name = `${demand.market?.protocol} on ${chain.name}`
  const does = direction === 'deposit' ? 'accepts' : 'pays out'
  const [limit, units] = [assetText(demand.limit), assetText(demand.units)]
  return `${name} ${does} at most ${limit} now, and other steps are before the ${units} of this step. The signer retries.`
}
